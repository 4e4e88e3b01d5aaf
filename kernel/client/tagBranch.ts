import { CatalogError } from '#shared/errors.ts';
import { mainBranch } from '#shared/names.ts';

/**
 * A tag is of a version of one branch, and the numbers of versions repeat in branches: who names both has to be right.
 * @throws CatalogError InvalidInput (13) naming both branches
 */
export function checkTagBranch(tag: string, has: string | undefined, wants: string | undefined): void {
  if (wants === undefined || wants === (has ?? mainBranch)) return;
  throw new CatalogError(
    'InvalidInput',
    `The tag "${tag}" is of a version of the branch "${has ?? mainBranch}", not of "${wants}".`,
    'Leave the branch out: a tag says which one it is of.',
  );
}
