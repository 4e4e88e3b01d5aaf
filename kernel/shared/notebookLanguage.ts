import { fieldAt } from './fields.ts';

/** The languages of cells. JavaScript cells are parsed as JavaScript, without type checking. */
export const notebookLanguages = ['typescript', 'javascript'] as const;
export type NotebookLanguage = (typeof notebookLanguages)[number];

/** The effect of type errors: `error` keeps the cell from running, `warn` prints them, `off` does not check. */
export const typeCheckModes = ['error', 'warn', 'off'] as const;

const tslabKernels: Readonly<Record<string, NotebookLanguage>> = { tslab: 'typescript', jslab: 'javascript' };

export const isTslabKernel = (name: string): boolean => Object.hasOwn(tslabKernels, name);

/** Returns the language of a kernel by its name. Default: TypeScript. */
export const languageOfKernel = (name: string): NotebookLanguage =>
  (isTslabKernel(name) ? tslabKernels[name] : undefined) ?? 'typescript';

export function readKernelName(metadata: Record<string, unknown>): string | undefined {
  const name = fieldAt(metadata, 'kernelspec', 'name');
  return typeof name === 'string' ? name : undefined;
}

/**
 * Returns the language of a notebook's cells. If its metadata names none, returns the language of its kernel (default:
 * TypeScript).
 * @returns `other` with the name in the metadata if this product does not run that language
 */
export function readNotebookLanguage(metadata: Record<string, unknown>): NotebookLanguage | { other: string } {
  const language = fieldAt(metadata, 'language_info', 'name') ?? fieldAt(metadata, 'kernelspec', 'language');
  if (typeof language !== 'string') return languageOfKernel(readKernelName(metadata) ?? '');
  return notebookLanguages.find((each) => each === language.toLowerCase()) ?? { other: language };
}
