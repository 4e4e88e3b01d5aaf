import type { CatalogErrorKind } from '#shared/errors.ts';
import type { DetachedId, Operation, Outcome, Path } from './operations.ts';
import { namespaceKey, sorted, tableKey, type Tree } from './trees.ts';

type ModelTable = {
  isWritten: boolean;
  rows: number;
  /** The value in its rows. Tables with the same value have the same rows. */
  content: number;
  /** The source of an unfinished copy, and its rows. */
  copyOf?: { from: string; content: number } | undefined;
  /** The name that its files use in the root of a local directory; for a table in the root, its own name. */
  rootName?: string | undefined;
};

/** The error of a refused operation. Thrown and caught only in this file. */
class Refusal extends Error {
  readonly kind: CatalogErrorKind;

  constructor(kind: CatalogErrorKind) {
    super(kind);
    this.kind = kind;
  }
}

function refuse(kind: CatalogErrorKind): never {
  throw new Refusal(kind);
}

/** Thrown if the result of an operation depends on something that the model lacks, such as version numbers. */
export class Undecided extends Error {}

const key = (path: Path): string => path.join('/');
const isPrefix = (path: Path, of: Path): boolean => path.every((name, index) => of[index] === name);

/**
 * The behavior of a catalog by its specification, implemented with maps in memory. A child of a namespace is a table or
 * a namespace. A refused operation changes nothing, except copies of namespaces, which are done table by table.
 */
export class CatalogModel {
  readonly isStore: boolean;
  #namespaces = new Map<string, Record<string, string>>();
  #tables = new Map<string, ModelTable>();
  #detached = new Map<DetachedId, ModelTable>();
  #steps: CatalogModel[] = [];

  /** @param isStore whether the root is in an object store, which can't rename */
  constructor(isStore: boolean) {
    this.isStore = isStore;
  }

  clone(): CatalogModel {
    const copy = new CatalogModel(this.isStore);
    copy.#namespaces = structuredClone(this.#namespaces);
    copy.#tables = structuredClone(this.#tables);
    copy.#detached = structuredClone(this.#detached);
    return copy;
  }

  /** Runs an operation. @throws Undecided if the model can't predict the result */
  apply(operation: Operation): Outcome {
    this.#steps = [];
    try {
      const value = this.#run(operation);
      return value === undefined ? {} : { value };
    } catch (error) {
      if (error instanceof Refusal) return { error: error.kind };
      throw error;
    }
  }

  /** The intermediate states of the last operation, if it has several steps. A killed process may leave any of them. */
  get steps(): readonly CatalogModel[] {
    return this.#steps;
  }

  tree(): Tree {
    const tree: Tree = {};
    for (const [path, properties] of this.#namespaces) tree[namespaceKey(path.split('/'))] = { namespace: properties };
    for (const [path, { isWritten, rows }] of this.#tables) tree[path] = { table: isWritten ? rows : 'unwritten' };
    return sorted(tree);
  }

  namespacePaths(): Path[] {
    return [...this.#namespaces.keys()].map((path) => path.split('/'));
  }

  tablePaths(): Path[] {
    return [...this.#tables.keys()].map((path) => path.split('/'));
  }

  detachedIds(): DetachedId[] {
    return [...this.#detached.keys()];
  }

  /** Returns the name that the files of a deregistered table use in the root; undefined if they use none. */
  detachedRootName(id: DetachedId): string | undefined {
    return this.#detached.get(id)?.rootName;
  }

  /** Forgets a deregistered table whose location is unknown. */
  forget(id: DetachedId): void {
    this.#detached.delete(id);
  }

  /** Removes a table in any state. */
  remove(path: Path): void {
    this.#tables.delete(key(path));
  }

  #run(operation: Operation): unknown {
    const { call } = operation;
    switch (call) {
      case 'createNamespace':
        return this.#createNamespace(operation);
      case 'dropNamespace':
        return this.#dropNamespace(operation);
      case 'describeNamespace':
        return operation.path.length === 0 ? {} : this.#properties(operation.path);
      case 'namespaceExists':
        return this.#isNamespace(operation.path);
      case 'listNamespaces':
        this.#mustExist(operation.path);
        return this.#childNames(this.#namespaces.keys(), operation.path);
      case 'listTables': {
        this.#mustExist(operation.path);
        const shown = [...this.#tables].filter(([, { isWritten }]) => isWritten || operation.includeDeclared);
        return this.#childNames(
          shown.map(([path]) => path),
          operation.path,
        );
      }
      case 'createTable':
        return this.#createTable(operation);
      case 'declareTable':
        return this.#declareTable(operation);
      case 'registerTable':
        return this.#registerTable(operation);
      case 'deregisterTable': {
        if (operation.path.length === 0 && this.isStore) refuse('Unsupported');
        const table = this.#take(operation);
        this.#detached.set(operation.detached, table);
        return undefined;
      }
      case 'renameTable':
        return this.#renameTable(operation);
      case 'dropTable':
        this.#take(operation);
        return undefined;
      case 'copy':
        return this.#copy(operation);
      case 'tableExists':
        return this.#tables.has(key([...operation.path, operation.name]));
      case 'isOnlyDeclared':
        return !this.#table(operation).isWritten;
      case 'describeTable':
      case 'openTable': {
        const { isWritten, rows } = this.#table(operation);
        return isWritten ? rows : refuse('InvalidTableState');
      }
    }
  }

  #childNames(paths: Iterable<string>, parent: Path): string[] {
    return [...paths]
      .map((path) => path.split('/'))
      .filter((path) => path.length === parent.length + 1 && isPrefix(parent, path))
      .map((path) => path.at(-1)!)
      .toSorted();
  }

  #isNamespace(path: Path): boolean {
    return path.length === 0 || this.#namespaces.has(key(path));
  }

  #mustExist(path: Path): void {
    if (!this.#isNamespace(path)) refuse('NamespaceNotFound');
  }

  #properties(path: Path): Record<string, string> {
    return this.#namespaces.get(key(path)) ?? refuse('NamespaceNotFound');
  }

  #table({ path, name }: { path: Path; name: string }): ModelTable {
    this.#mustExist(path);
    return this.#tables.get(tableKey(path, name)) ?? refuse('TableNotFound');
  }

  #take(named: { path: Path; name: string }): ModelTable {
    const table = this.#table(named);
    this.#tables.delete(tableKey(named.path, named.name));
    return table;
  }

  #createNamespace({ path, mode, properties }: Extract<Operation, { call: 'createNamespace' }>): undefined {
    if (mode === 'overwrite') refuse('Unsupported');
    this.#mustExist(path.slice(0, -1));
    if (this.#tables.has(key(path))) refuse('TableAlreadyExists');
    if (!this.#isNamespace(path)) this.#namespaces.set(key(path), properties ?? {});
    else if (mode === 'create') refuse('NamespaceAlreadyExists');
  }

  #dropNamespace({ path, mode, behavior }: Extract<Operation, { call: 'dropNamespace' }>): undefined {
    if (path.length === 0) refuse('InvalidInput');
    if (!this.#isNamespace(path)) return mode === 'skip' ? undefined : refuse('NamespaceNotFound');
    if (behavior === 'cascade') this.#dropContents(path);
    const isEmpty = [...this.#namespaces.keys(), ...this.#tables.keys()].every(
      (one) => !one.startsWith(`${key(path)}/`),
    );
    if (!isEmpty) refuse('NamespaceNotEmpty');
    this.#namespaces.delete(key(path));
  }

  #dropContents(path: Path): void {
    for (const name of this.#childNames(this.#namespaces.keys(), path)) {
      this.#dropContents([...path, name]);
      this.#namespaces.delete(key([...path, name]));
      this.#steps.push(this.clone());
    }
    for (const name of this.#childNames(this.#tables.keys(), path)) {
      this.#tables.delete(tableKey(path, name));
      this.#steps.push(this.clone());
    }
  }

  /** Refuses a new table whose name is in use. In the root of a directory, unlisted files also count. */
  #checkFree(path: Path, name: string): void {
    if (this.#isNamespace([...path, name])) refuse('NamespaceAlreadyExists');
    if (this.#tables.has(tableKey(path, name)) || (path.length === 0 && this.#isRootNameTaken(name)))
      refuse('TableAlreadyExists');
  }

  #isRootNameTaken(name: string): boolean {
    return [...this.#tables.values(), ...this.#detached.values()].some(({ rootName }) => rootName === name);
  }

  #add(path: Path, name: string, table: Omit<ModelTable, 'rootName'>): void {
    const isAtName = path.length === 0 && !this.isStore;
    this.#tables.set(tableKey(path, name), { ...table, rootName: isAtName ? name : undefined });
  }

  #createTable({ path, name, rows, content, mode }: Extract<Operation, { call: 'createTable' }>): number {
    this.#mustExist(path);
    const there = this.#tables.get(tableKey(path, name));
    if (!there) {
      this.#checkFree(path, name);
      this.#add(path, name, { isWritten: true, rows, content });
    } else if (!there.isWritten || mode === 'overwrite') {
      Object.assign(there, { isWritten: true, rows, content, copyOf: undefined });
    } else {
      return mode === 'exist_ok' ? there.rows : refuse('TableAlreadyExists');
    }
    return rows;
  }

  #declareTable({ path, name }: { path: Path; name: string }): undefined {
    this.#mustExist(path);
    if (path.length === 0 && this.isStore) refuse('Unsupported');
    this.#checkFree(path, name);
    this.#add(path, name, { isWritten: false, rows: 0, content: 0 });
  }

  #registerTable({ path, name, detached, mode }: Extract<Operation, { call: 'registerTable' }>): undefined {
    this.#mustExist(path);
    const table = detached === undefined ? undefined : this.#detached.get(detached);
    // In the root, the location of a table is derived from its name, so a table can be registered only under the name
    // of its files.
    if (path.length === 0 && (this.isStore || table?.rootName !== name)) refuse('Unsupported');
    if (!table?.isWritten) refuse('InvalidInput');
    if (this.#isNamespace([...path, name])) refuse('NamespaceAlreadyExists');
    if (this.#tables.has(tableKey(path, name)) && mode !== 'overwrite') refuse('TableAlreadyExists');
    this.#tables.set(tableKey(path, name), table);
    this.#detached.delete(detached!);
  }

  #renameTable({ path, name, newPath, newName }: Extract<Operation, { call: 'renameTable' }>): undefined {
    if (tableKey(path, name) === tableKey(newPath, newName)) return void this.#table({ path, name });
    this.#mustExist(path);
    this.#mustExist(newPath);
    if ((path.length === 0) !== (newPath.length === 0)) refuse('Unsupported');
    if (path.length === 0 && this.isStore) refuse('Unsupported');
    const table = this.#table({ path, name });
    this.#checkFree(newPath, newName);
    this.#tables.delete(tableKey(path, name));
    this.#tables.set(tableKey(newPath, newName), {
      ...table,
      rootName: path.length === 0 ? newName : table.rootName,
    });
  }

  #copy({ from, to, overwrite }: Extract<Operation, { call: 'copy' }>): undefined {
    const isTable = this.#tables.has(key(from));
    if (!isTable && !this.#isNamespace(from)) refuse('TableNotFound');
    if (isTable && to.length === 0) refuse('InvalidInput');
    if (isPrefix(from, to)) refuse('InvalidInput');
    // Collect all names before the first change.
    const [namespaces, tables] = isTable ? [[], [[]]] : this.#below(from);
    this.#createParents(to);
    for (const path of namespaces) {
      const target = [...to, ...path];
      if (target.length > 0) this.#createMissing(target, this.#properties([...from, ...path]));
    }
    for (const path of tables) this.#copyTable([...from, ...path], [...to, ...path], overwrite);
  }

  /** Returns all namespaces and tables in a namespace by relative path, in the order of copying. */
  #below(path: Path): [Path[], Path[]] {
    const namespaces: Path[] = [];
    const tables: Path[] = [];
    const walk = (below: Path): void => {
      namespaces.push(below);
      const there = [...path, ...below];
      for (const name of this.#childNames(this.#tables.keys(), there)) tables.push([...below, name]);
      for (const name of this.#childNames(this.#namespaces.keys(), there)) walk([...below, name]);
    };
    walk([]);
    return [namespaces, tables];
  }

  #createParents(path: Path): void {
    for (let depth = 1; depth < path.length; depth++) this.#createMissing(path.slice(0, depth), {});
  }

  #createMissing(path: Path, properties: Record<string, string>): void {
    if (this.#isNamespace(path)) return;
    this.#createNamespace({ call: 'createNamespace', path, mode: 'exist_ok', properties: { ...properties } });
    this.#steps.push(this.clone());
  }

  #copyTable(from: Path, to: Path, overwrite: boolean): void {
    const source = this.#tables.get(key(from));
    if (!source) return refuse('TableNotFound');
    // A declared table has no rows, so there is nothing to copy.
    if (!source.isWritten) return;
    const [path, name] = [to.slice(0, -1), to.at(-1)!];
    const there = this.#tables.get(key(to));
    if (there) {
      if (!there.isWritten) refuse('InvalidTableState');
      const isOurs = there.copyOf?.from === key(from);
      if (isOurs && there.content === there.copyOf?.content && there.content === source.content) return;
      if (isOurs && there.rows === 0 && source.rows === 0) throw new Undecided();
      if (!overwrite) refuse('TableAlreadyExists');
      this.#tables.delete(key(to));
      this.#steps.push(this.clone());
    }
    // The copy would be written under a temporary name and could not be renamed, because the name is in use in the
    // root.
    if (!there && path.length === 0 && this.#isRootNameTaken(name)) throw new Undecided();
    this.#checkFree(path, name);
    const { rows, content } = source;
    this.#add(path, name, { isWritten: true, rows, content, copyOf: { from: key(from), content } });
    this.#steps.push(this.clone());
  }
}
