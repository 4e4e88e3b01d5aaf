import { type CatalogModel, Undecided } from './catalogModel.ts';
import type { Operation, Path } from './operations.ts';
import type { Random } from './random.ts';

/** Few names, for tables and namespaces alike, so that operations meet each other. */
const names = ['a', 'b', 'c'] as const;
const deepestNamespace = 3;
/** More would make a sequence slow and find nothing else. */
const mostTables = 14;

type Call = Operation['call'];

/** How often each call is made, in relation to the others. */
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

/** The next operation of a sequence: by chance, and often about what is there. `number` is its place in the sequence. */
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
      // Half of them stay where the table is: the other half is mostly refused for its namespace.
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

/** A table in the root can only be registered under its own name, so half of the time that is asked for. */
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

/** A namespace in which something may be created: mostly one that is there. */
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

/** The name of a table, with a probability that it is there. */
function someTable(random: Random, model: CatalogModel, existing: number): { path: Path; name: string } {
  const there = model.tablePaths();
  if (there.length > 0 && random.chance(existing)) {
    const path = random.pick(there);
    return { path: path.slice(0, -1), name: path.at(-1)! };
  }
  return { path: parent(random, model, deepestNamespace), name: name(random) };
}
