import { type CatalogModel, Undecided } from './catalogModel.ts';
import type { Operation, Path } from './operations.ts';
import type { Random } from './random.ts';

/** A few names for both tables and namespaces, so that operations affect each other. */
const names = ['a', 'b', 'c'] as const;
const deepestNamespace = 3;
/** More tables would only make a sequence slow. */
const mostTables = 14;

type Call = Operation['call'];

/** The relative frequency of each call. */
const weights: Readonly<Record<Call, number>> = {
  createNamespace: 16,
  dropNamespace: 8,
  createTable: 16,
  declareTable: 4,
  dropTable: 6,
  deregisterTable: 5,
  registerTable: 5,
  renameTable: 10,
  copy: 6,
  listNamespaces: 4,
  listTables: 5,
  describeNamespace: 2,
  namespaceExists: 2,
  describeTable: 3,
  tableExists: 3,
  openTable: 3,
  isOnlyDeclared: 2,
};
const calls = Object.entries(weights).flatMap(([call, weight]) => Array.from({ length: weight }, () => call as Call));

/**
 * Returns the next random operation of a sequence, often on existing objects. `number` is its position in the sequence.
 */
export function nextOperation(random: Random, model: CatalogModel, number: number): Operation {
  for (let tries = 0; tries < 100; tries++) {
    const operation = generate(random, model, random.pick(calls), number);
    if (operation && isDecided(model, operation)) return operation;
  }
  throw new Error('No operation could be generated.');
}

function isDecided(model: CatalogModel, operation: Operation): boolean {
  const after = model.clone();
  try {
    after.apply(operation);
  } catch (error) {
    if (error instanceof Undecided) return false;
    throw error;
  }
  return after.tablePaths().length <= mostTables && after.namespacePaths().every(({ length }) => length <= 5);
}

function generate(random: Random, model: CatalogModel, call: Call, number: number): Operation | undefined {
  switch (call) {
    case 'createNamespace': {
      const mode = random.pick(['create', 'create', 'create', 'exist_ok', 'exist_ok', 'overwrite'] as const);
      const path = random.chance(0.1)
        ? anyTable(random, model)
        : [...parent(random, model, deepestNamespace - 1), name(random)];
      return random.chance(0.5)
        ? { call, path, mode, properties: { made: `by ${number}`, owner: random.pick(['ada', 'grace']) } }
        : { call, path, mode };
    }
    case 'dropNamespace': {
      const path = random.chance(0.1) ? anyTable(random, model) : anyNamespace(random, model);
      return {
        call,
        path,
        mode: random.pick(['fail', 'skip']),
        behavior: random.pick(['restrict', 'restrict', 'cascade']),
      };
    }
    case 'describeNamespace':
    case 'namespaceExists':
      return { call, path: random.chance(0.2) ? anyTable(random, model) : anyNamespace(random, model) };
    case 'listNamespaces':
      return { call, path: anyNamespace(random, model), limit: random.pick([1, 2, 100]) };
    case 'listTables': {
      const limit = random.pick([1, 2, 100]);
      return { call, path: anyNamespace(random, model), limit, includeDeclared: random.chance(0.7) };
    }
    case 'createTable': {
      const mode = random.pick(['create', 'create', 'exist_ok', 'overwrite'] as const);
      return { call, ...someTable(random, model, 0.4), rows: random.below(4), content: number + 1, mode };
    }
    case 'declareTable':
      return { call, ...someTable(random, model, 0.2) };
    case 'deregisterTable':
      return { call, ...someTable(random, model, 0.8), detached: number };
    case 'registerTable':
      return register(random, model);
    case 'renameTable': {
      const from = someTable(random, model, 0.9);
      const to = someTable(random, model, 0.15);
      // Half of the renames stay in the namespace of the table, because most renames to another one are refused.
      const newPath = random.chance(0.5) ? from.path : to.path;
      return { call, ...from, newPath, newName: to.name };
    }
    case 'copy': {
      const from = random.chance(0.7) ? anyTable(random, model) : anyNamespace(random, model);
      const to = random.chance(0.3) ? anyTable(random, model) : [...parent(random, model, 2), name(random)];
      return { call, from, to: random.chance(0.05) ? [] : to, overwrite: random.chance(0.4) };
    }
    case 'dropTable':
    case 'describeTable':
    case 'tableExists':
    case 'openTable':
    case 'isOnlyDeclared':
      return { call, ...someTable(random, model, 0.7) };
  }
}

const name = (random: Random): string => random.pick(names);

/** A table in the root can only be registered under its own name, so use this name half of the time. */
function register(random: Random, model: CatalogModel): Operation {
  const call = 'registerTable';
  const mode = random.pick(['create', 'create', 'overwrite'] as const);
  const ids = model.detachedIds();
  if (ids.length === 0 || random.chance(0.1)) return { call, ...someTable(random, model, 0.2), mode };
  const detached = random.pick(ids);
  const rootName = model.detachedRootName(detached);
  if (rootName !== undefined && random.chance(0.5)) return { call, path: [], name: rootName, detached, mode };
  return { call, ...someTable(random, model, 0.2), detached, mode };
}

/** Returns a namespace in which to create something, mostly an existing one. */
function parent(random: Random, model: CatalogModel, deepest: number): Path {
  const there = model.namespacePaths().filter(({ length }) => length <= deepest);
  if (there.length > 0 && random.chance(0.6)) return random.pick(there);
  return random.chance(0.75) ? [] : Array.from({ length: 1 + random.below(deepest) }, () => name(random));
}

function anyNamespace(random: Random, model: CatalogModel): Path {
  const there = model.namespacePaths();
  if (there.length > 0 && random.chance(0.7)) return random.pick(there);
  return random.chance(0.3) ? [] : Array.from({ length: 1 + random.below(deepestNamespace) }, () => name(random));
}

function anyTable(random: Random, model: CatalogModel): Path {
  const { path, name: table } = someTable(random, model, 0.8);
  return [...path, table];
}

/** Returns the name of a table, which exists with the given probability. */
function someTable(random: Random, model: CatalogModel, existing: number): { path: Path; name: string } {
  const there = model.tablePaths();
  if (there.length > 0 && random.chance(existing)) {
    const path = random.pick(there);
    return { path: path.slice(0, -1), name: path.at(-1)! };
  }
  return { path: parent(random, model, deepestNamespace), name: name(random) };
}
