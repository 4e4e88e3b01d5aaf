import { CatalogError, isCatalogError } from '#shared/errors.ts';
import {
  checkKnownPath,
  checkName,
  checkNamespacePath,
  displayPath,
  namespacePathProblem,
  nameProblem,
} from '#shared/names.ts';
import type { Catalog, CopiedTable, CopyOptions, CopyResult, CopyTarget, SkippedTable } from '#catalog/catalog.ts';
import { copyTable } from './copyTable.ts';
import { displayTable } from './copyState.ts';
import { type CopySource, CopyStrategies } from './copyTarget.ts';
import type { Identity } from '#catalog/identity.ts';
import { type CallOptions, checkChoice, checkOptions } from '#catalog/arguments/options.ts';
import { allPages } from '#catalog/listPages.ts';

type Place = { catalog: Catalog; path: readonly string[] };

/**
 * Copies a table, or a namespace with its properties and content, within a catalog or to another one; see
 * `Catalog.copy`. Missing namespaces above the target are created. Each table is copied at the version that is newest
 * when its copy starts; a resumed copy keeps that version. Tags, branches and earlier versions are not copied.
 *
 * @throws CatalogError TableAlreadyExists (5) if `overwrite` is not set and the target has a table that is neither an
 * unfinished copy of the source nor an unchanged copy of its newest version; TableNotFound (4), NamespaceNotFound (1);
 * InvalidInput (13) if the target is inside the source; Internal (18) if the copy has other rows than the source; and
 * every error of either catalog. After an error, calling again resumes the copy.
 */
export async function copyTables(
  { catalog: source, identity }: { catalog: Catalog; identity: Identity },
  from: readonly string[],
  to: CopyTarget,
  options: CopyOptions = {},
): Promise<CopyResult> {
  checkOptions('copy', options, ['chunkBytes', 'kind', 'onProgress', 'overwrite', 'signal']);
  const asked = checkChoice('copy', 'kind', options.kind, ['table', 'namespace']);
  checkChunk(options.chunkBytes);
  checkKnownPath(from);
  const target = targetLocation(source, to);
  if ((asked ?? (await kindOfSource(source, from, options))) === 'table') {
    checkTable(target.path);
    checkApart({ catalog: source, path: from }, target);
    await makeParents(target, options);
    const strategies = new CopyStrategies();
    const copied = await copyUnlessDeclared({ catalog: source, identity, path: from }, target, strategies, options);
    return 'why' in copied ? { tables: [], skipped: [copied] } : { tables: [copied], skipped: [] };
  }
  checkNamespacePath(target.path);
  checkApart({ catalog: source, path: from }, target);
  return copyNamespace({ catalog: source, identity, path: from }, target, options);
}

/**
 * Returns whether a path names a table or a namespace. The root is always a namespace.
 * @throws CatalogError TableNotFound (4) if it names nothing, InvalidInput (13) if it names both
 */
export async function kindOfSource(
  source: Catalog,
  path: readonly string[],
  { signal }: CallOptions,
): Promise<'table' | 'namespace'> {
  const name = path.at(-1);
  if (name === undefined) return 'namespace';
  const [isNamespace, isTable] = [
    await source.namespaceExists(path, { signal }),
    await source.tableExists(name, path.slice(0, -1), { signal }).catch((error: unknown) => {
      if (isCatalogError(error, 'NamespaceNotFound')) return false;
      throw error;
    }),
  ];
  const shown = displayPath(path);
  if (isNamespace && isTable) {
    const hint = 'Set kind to "table" or "namespace".';
    throw new CatalogError('InvalidInput', `There is both a table and a namespace "${shown}".`, hint);
  }
  if (!isNamespace && !isTable) {
    const hint = `Check the names in ${source.location}.`;
    throw new CatalogError('TableNotFound', `Can't copy "${shown}": no table or namespace has this name.`, hint, {
      identifier: shown,
    });
  }
  return isTable ? 'table' : 'namespace';
}

async function copyNamespace(source: CopySource, target: Place, options: CopyOptions): Promise<CopyResult> {
  const plan = await planOf(source, target.path, options);
  await makeParents(target, options);
  for (const path of plan.namespaces) {
    const { properties } = await source.catalog.describeNamespace([...source.path, ...path], {
      signal: options.signal,
    });
    const made = [...target.path, ...path];
    if (made.length === 0) continue;
    await target.catalog.createNamespace(made, { mode: 'exist_ok', properties, signal: options.signal });
  }
  const tables: CopiedTable[] = [];
  const skipped: SkippedTable[] = [...plan.refused];
  const strategies = new CopyStrategies();
  for (const path of plan.tables) {
    const from = [...source.path, ...path];
    try {
      const to = { catalog: target.catalog, path: [...target.path, ...path] };
      const copied = await copyUnlessDeclared({ ...source, path: from }, to, strategies, options);
      if ('why' in copied) skipped.push(copied);
      else tables.push(copied);
    } catch (error) {
      // A retry does not help, because the source is itself an unfinished copy, has a column that can't be copied, or
      // is listed without being a table. Other tables can still be copied.
      const isLasting =
        isCatalogError(error, 'InvalidTableState') ||
        isCatalogError(error, 'Unsupported') ||
        isCatalogError(error, 'TableNotFound');
      if (!isLasting || error.identifier !== displayTable(from)) throw error;
      skipped.push({ from: displayTable(from), reason: error.message, why: 'failed' });
    }
  }
  return { tables, skipped };
}

/**
 * Copies a table unless it is only declared and so has no data. This function checks for a declared table only after a
 * failure, because the check costs a request.
 */
async function copyUnlessDeclared(
  source: CopySource,
  target: Place,
  strategies: CopyStrategies,
  options: CopyOptions,
): Promise<CopiedTable | SkippedTable> {
  try {
    return await copyTable(source, target, strategies, options);
  } catch (error) {
    if (!isCatalogError(error)) throw error;
    const { signal } = options;
    const [name, above] = [source.path.at(-1) ?? '', source.path.slice(0, -1)];
    // If `isOnlyDeclared` fails too, the error of the copy is thrown.
    if (!(await source.catalog.isOnlyDeclared(name, above, { signal }).catch(() => false))) throw error;
    const reason = 'The table is declared but has no data yet.';
    return { from: displayTable(source.path), reason, why: 'declared' };
  }
}

async function makeParents({ catalog, path }: Place, { signal }: CopyOptions): Promise<void> {
  const above = path.slice(0, -1);
  if (above.length === 0 || (await catalog.namespaceExists(above, { signal }))) return;
  for (let depth = 1; depth <= above.length; depth++) {
    await catalog.createNamespace(above.slice(0, depth), { mode: 'exist_ok', signal });
  }
}

/**
 * One copy takes at most this many namespaces and this many tables, because a faulty server could list new names
 * forever.
 */
const maxNames = 100_000;

/** What a copy of a namespace creates, by paths relative to it, and what the target would refuse to create. */
type CopyPlan = { namespaces: string[][]; tables: string[][]; refused: SkippedTable[] };

/**
 * Lists everything in a namespace; the namespace itself is `[]`. Other clients create names that this product refuses
 * for new objects. These objects are left out, so that one of them does not keep all others from being copied.
 */
async function planOf(source: Place, target: readonly string[], options: CopyOptions): Promise<CopyPlan> {
  const { signal } = options;
  const namespaces: string[][] = [];
  const tables: string[][] = [];
  const refused: SkippedTable[] = [];
  const refuse = (path: readonly string[], { what }: { what: string }): void => {
    const reason = `${what} Copy it by itself under another name.`;
    refused.push({ from: displayTable([...source.path, ...path]), reason, why: 'failed' });
  };
  const walk = async (path: string[]): Promise<void> => {
    const problem = namespacePathProblem([...target, ...path]);
    if (problem) return refuse(path, problem);
    namespaces.push(path);
    checkCount(namespaces, 'namespaces', source.path);
    const there = [...source.path, ...path];
    for (const name of await source.catalog.tableNames(there, { signal })) {
      const wrong = nameProblem('table', name);
      if (wrong) refuse([...path, name], wrong);
      else tables.push([...path, name]);
    }
    checkCount(tables, 'tables', source.path);
    const children = await allPages(async (pageToken) => {
      const page = await source.catalog.listNamespaces(there, { signal, pageToken, limit: 1000 });
      return { names: page.namespaces, pageToken: page.pageToken };
    });
    for (const name of children) await walk([...path, name]);
  };
  await walk([]);
  return { namespaces, tables, refused };
}

function checkCount({ length }: readonly unknown[], what: string, path: readonly string[]): void {
  if (length <= maxNames) return;
  const from = path.length === 0 ? 'the catalog' : `"${displayPath(path)}"`;
  throw new CatalogError(
    'InvalidInput',
    `Can't copy ${from}: it has more than ${maxNames} ${what}.`,
    'Copy its namespaces or tables in several calls.',
  );
}

const isPath = (value: CopyTarget): value is readonly string[] => Array.isArray(value);

function targetLocation(source: Catalog, to: CopyTarget): Place {
  if (isPath(to)) return { catalog: source, path: to };
  checkOptions('copy', to, ['catalog', 'path']);
  return { catalog: to.catalog ?? source, path: to.path };
}

function checkTable(path: readonly string[]): void {
  checkNamespacePath(path.slice(0, -1));
  checkName('table', path.at(-1));
}

/**
 * Throws if the copy would be inside its source or the same as its source: then the copy would never end, or the source
 * would be replaced.
 */
function checkApart(source: Place, target: Place): void {
  // Two catalogs with the same URL may be different databases; two with the same directory are the same catalog.
  const isDirectory = source.catalog.implementation === 'dir' && target.catalog.implementation === 'dir';
  const isSame = isDirectory && source.catalog.location === target.catalog.location;
  if (source.catalog !== target.catalog && !isSame) return;
  if (!source.path.every((name, index) => target.path[index] === name)) return;
  throw new CatalogError(
    'InvalidInput',
    `Can't copy "${displayPath(source.path)}" into itself.`,
    'Choose a target outside of it.',
  );
}

function checkChunk(bytes: number | undefined): void {
  if (bytes === undefined || (Number.isSafeInteger(bytes) && bytes > 0)) return;
  throw new CatalogError(
    'InvalidInput',
    `Expected a number of bytes for "chunkBytes", got ${String(bytes)}.`,
    'Set chunkBytes to at least 1.',
  );
}
