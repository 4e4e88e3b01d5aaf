import { join } from 'node:path';
import { CatalogError } from '#shared/errors.ts';
import type { RepairResult } from '#shared/damage.ts';
import { idDelimiter } from '#shared/names.ts';
import type { Root } from '#engine/dir/dirConnection.ts';
import { renameTable } from '#engine/dir/dirRename.ts';
import { ensureManifest } from '#engine/dir/files/createManifest.ts';
import { inRoot, pathExists } from '#engine/dir/files/folders.ts';
import { planRepair, type PlanOptions, type Step } from './inspect.ts';
import { namespaceId, updateManifest } from '#engine/dir/files/manifestTable.ts';

/** Finds what is wrong with a catalog without changing it. @throws CatalogError as `planRepair` */
export async function inspectCatalog(place: Root): Promise<RepairResult> {
  const { planned, recent } = await planRepair(place);
  const found = planned.map(({ damage }) => damage);
  return { found, left: found, recent };
}

/**
 * Repairs a catalog in a directory or an object store. Each step is one commit or one rename, and does nothing if the
 * catalog has changed since. So a repair that was killed can be run again and continues.
 * @throws CatalogError as `planRepair`, or the error of a step. Earlier steps stay applied
 */
export async function repairCatalog(
  place: Root,
  options: PlanOptions & { signal?: AbortSignal | undefined } = {},
): Promise<RepairResult> {
  const before = await planRepair(place, options);
  const { planned } = before;
  const steps = planned.flatMap((one) => one.steps);
  if (steps.length > 0) await ensureManifest(place);
  for (const step of steps) {
    options.signal?.throwIfAborted();
    await apply(place, step);
  }
  const after = steps.length > 0 ? await planRepair(place, options) : before;
  return {
    found: planned.map(({ damage }) => damage),
    left: after.planned.map(({ damage }) => damage),
    recent: after.recent,
  };
}

async function apply(place: Root, step: Step): Promise<void> {
  switch (step.do) {
    case 'add-namespace':
      return updateManifest(place, (manifest) => manifest.addNamespace(step.id));
    case 'turn-into-namespace':
      return updateManifest(place, (manifest) => manifest.turnIntoNamespace(step.id, step.location));
    case 'rename-row':
      await updateManifest(place, (manifest) => manifest.rename(step.id, step.to));
      return;
    case 'rename-folder':
      return renameTable(place, { name: step.name, path: [] }, { name: step.to, path: [] });
    case 'remove-row':
      return updateManifest(place, (manifest) => manifest.takeFrom(step.id, step.location));
    case 'list-table':
      return listTable(place, step.id, step.folder);
  }
}

async function listTable(place: Root, id: string, folder: string): Promise<void> {
  const parent = namespaceId(id.split(idDelimiter).slice(0, -1));
  const path = join(inRoot(place.location, folder), '_versions');
  const taken = await updateManifest(place, (manifest) =>
    manifest.insert(id, { location: folder, metadata: null }, parent),
  );
  // A client that drops a table removes the row before the folder. So if the folder is missing now, the new row is
  // removed again.
  if (taken === undefined && !(await pathExists(path))) {
    await updateManifest(place, (manifest) => manifest.takeFrom(id, folder));
  }
  if (taken !== undefined) throw changedMeanwhile(id);
}

const changedMeanwhile = (id: string): CatalogError =>
  new CatalogError(
    'ConcurrentModification',
    `Can't list "${id.split(idDelimiter).join('/')}": something else was created under this name.`,
    'Run the repair again.',
  );
