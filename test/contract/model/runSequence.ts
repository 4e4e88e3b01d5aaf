import { setTimeout as pause } from 'node:timers/promises';
import { CatalogModel } from './catalogModel.ts';
import { nextOperation } from './generate.ts';
import { isReading, type DetachedId, type Operation, type Outcome, type Path } from './operations.ts';
import { perform } from './perform.ts';
import { Random } from './random.ts';
import { isStore, type Root, type Roots, type SubjectName } from './roots.ts';
import { asUpstream, differences, isSameTree, readTree, type Tree } from './trees.ts';

/** Maximum number of operations in a sequence. */
export const sequenceLength = 40;
/**
 * The whole tree is compared each time after this number of operations. An object store has a larger number, because
 * reading takes longer.
 */
const checkEvery = { directory: 10, store: 20 } as const;
/** The probability of a kill during an operation that changes something, if the process can be killed. */
const killChance = 0.15;

export type SequenceResult = {
  operations: number;
  kills: number;
  /** Number of names that existed before an operation and should exist after it, but don't. */
  lost: number;
  /**
   * The first difference from the model, with everything needed to reproduce it. A sequence ends at its first
   * difference.
   */
  difference?: string;
};

/** Runs a sequence of operations on a new root and on the model, and compares them. */
export async function runSequence(roots: Roots, subject: SubjectName, seed: number): Promise<SequenceResult> {
  const root = await roots.open(subject);
  try {
    return await new Sequence(root, subject, seed).run();
  } finally {
    await root.close();
  }
}

/** Ends a sequence because the root differs from the model. */
class Difference extends Error {
  readonly lost: number;

  constructor(message: string, lost = 0) {
    super(message);
    this.lost = lost;
  }
}

class Sequence {
  readonly #root: Root;
  readonly #subject: SubjectName;
  readonly #seed: number;
  readonly #random: Random;
  readonly #locations = new Map<DetachedId, string>();
  readonly #trail: string[] = [];
  #model: CatalogModel;
  #kills = 0;

  constructor(root: Root, subject: SubjectName, seed: number) {
    this.#root = root;
    this.#subject = subject;
    this.#seed = seed;
    this.#random = new Random(seed);
    this.#model = new CatalogModel(isStore(subject));
  }

  async run(): Promise<SequenceResult> {
    let operations = 0;
    try {
      while (operations < sequenceLength) {
        const operation = nextOperation(this.#random, this.#model, operations);
        operations++;
        this.#trail.push(JSON.stringify(operation));
        const isKilled = this.#root.kill && !isReading(operation) && this.#random.chance(killChance);
        await (isKilled ? this.#killDuring(operation) : this.#compareOutcome(operation));
        if (operations % checkEvery[isStore(this.#subject) ? 'store' : 'directory'] === 0) await this.#compareTrees();
      }
      this.#compare('what upstream shows in Python', asUpstream(this.#model.tree()), await this.#root.readPython());
      return { operations, kills: this.#kills, lost: 0 };
    } catch (error) {
      const text = error instanceof Difference ? error.message : String(error instanceof Error ? error.stack : error);
      const difference = [
        `${this.#subject}, seed ${this.#seed}, operation ${operations}: ${text}`,
        ...this.#trail.map((line) => `  ${line}`),
      ].join('\n');
      return { operations, kills: this.#kills, lost: error instanceof Difference ? error.lost : 0, difference };
    }
  }

  async #compareOutcome(operation: Operation): Promise<void> {
    const expected = this.#model.apply(operation);
    const found = await perform(this.#root.db, operation, this.#locations);
    checkOutcome(expected, found);
  }

  async #compareTrees(): Promise<void> {
    const expected = this.#model.tree();
    this.#compare('the tree', expected, await readTree(this.#root.db));
    this.#compare('what upstream shows', asUpstream(expected), await this.#root.readUpstream());
  }

  #compare(what: string, expected: Tree, found: Tree): void {
    if (isSameTree(expected, found)) return;
    throw new Difference(
      `${what} is another:\n  ${differences(expected, found).join('\n  ')}`,
      lostNames(expected, found),
    );
  }

  /** Kills the process at some moment of an operation. The tree must then be one of the operation's states. */
  async #killDuring(operation: Operation): Promise<void> {
    this.#kills++;
    const before = this.#model;
    const after = before.clone();
    const expected = after.apply(operation);
    const longest = isStore(this.#subject) ? 400 : 60;
    const killedAfter = Math.round(longest * this.#random.next());
    this.#trail.push(`killed ${killedAfter} ms after that`);
    const running = perform(this.#root.db, operation, this.#locations);
    await pause(killedAfter);
    this.#root.kill!();
    const outcome = await running;
    await this.#root.restart!();
    const found = await this.#tidied(operation, before);
    const isDone = outcome.error !== 'ServiceUnavailable';
    if (isDone && !isHalfTold(expected, outcome)) checkOutcome(expected, outcome);
    const possible = isDone ? [after] : [before, ...after.steps, after];
    const model = possible.find((one) => isSameTree(one.tree(), found));
    if (!model) {
      const kept = before.tree();
      throw new Difference(
        [
          'the tree after the kill is neither that before nor that after the operation:',
          ...differences(before.tree(), found).map((line) => `before: ${line}`),
          ...differences(after.tree(), found).map((line) => `after: ${line}`),
        ].join('\n  '),
        lostNames(Object.fromEntries(Object.entries(kept).filter(([key]) => key in after.tree())), found),
      );
    }
    this.#model = model;
    // A killed call did not return the location of the files, so the model forgets these tables.
    for (const id of model.detachedIds()) if (!this.#locations.has(id)) model.forget(id);
    this.#compare('what upstream shows', asUpstream(model.tree()), await this.#root.readUpstream());
  }

  /**
   * Returns the tree without the possible remains of a killed operation: a table with the temporary name of a copy and,
   * in the root of an object store, a name in use, because nothing can be renamed there.
   */
  async #tidied(operation: Operation, before: CatalogModel): Promise<Tree> {
    const { db } = this.#root;
    const found = await readTree(db);
    const earlier = before.tree();
    for (const [key, node] of Object.entries(found)) {
      if (!('table' in node)) continue;
      const path: Path = key.split('/');
      const isStaged = operation.call === 'copy' && key.endsWith('.copying');
      const isHalf = isStore(this.#subject) && path.length === 1 && isUnfinished(operation, node.table, earlier[key]);
      if (!isStaged && !isHalf) continue;
      this.#trail.push(`dropped ${key}, which the killed process left as ${node.table}`);
      await db.dropTable(path.at(-1)!, path.slice(0, -1));
      before.remove(path);
      delete found[key];
    }
    return found;
  }
}

/** Whether a table in the root of an object store may be the remains of a killed call. */
function isUnfinished(operation: Operation, state: number | string, earlier: Tree[string] | undefined): boolean {
  const isChanged = JSON.stringify(earlier) !== JSON.stringify({ table: state });
  if (operation.call === 'copy') return isChanged;
  return (operation.call === 'createTable' || operation.call === 'dropTable') && state === 'unreadable' && isChanged;
}

/** Whether a killed call has found only that its table is missing, and not yet that its namespace is missing, too. */
const isHalfTold = (expected: Outcome, found: Outcome): boolean =>
  expected.error === 'NamespaceNotFound' && found.error === 'TableNotFound';

function checkOutcome(expected: Outcome, found: Outcome): void {
  const [wanted, had] = [JSON.stringify(expected), JSON.stringify(found)];
  if (wanted !== had) throw new Difference(`expected ${wanted}, got ${had}`);
}

const lostNames = (expected: Tree, found: Tree): number =>
  Object.keys(expected).filter((key) => !(key in found)).length;
