import * as vscode from 'vscode';
import type { Catalog } from '#catalog/catalog.ts';
import type { Operation } from '#catalog/contract.ts';
import { isAbort } from '#shared/errors.ts';
import { abilitiesOf, operationOf } from './abilityRules.ts';
import { allAbilities, type Ability } from '../explorer/node.ts';

type Able = Pick<Catalog, 'capabilities'>;

/** The abilities of each connection's catalog, as far as they are known. */
export class Abilities implements vscode.Disposable {
  readonly #known = new Map<string, ReadonlySet<Ability>>();
  readonly #probed = new WeakSet<Able>();
  readonly #report: (what: string, error: unknown) => void;
  readonly #lifetime = new AbortController();
  readonly #changed = new vscode.EventEmitter<string>();
  /** The name of the connection. */
  readonly onDidChange = this.#changed.event;

  constructor(report: (what: string, error: unknown) => void) {
    this.#report = report;
  }

  of(connection: string): ReadonlySet<Ability> {
    return this.#known.get(connection) ?? allAbilities;
  }

  /**
   * Requests the abilities of a catalog, once per catalog, by requests that change nothing. Callers don't wait for
   * it.
   */
  async probe(connection: string, catalog: Able): Promise<void> {
    if (this.#probed.has(catalog)) return;
    this.#probed.add(catalog);
    await this.#learn(connection, catalog, Object.values(operationOf));
  }

  /** Reads what the catalog learned from its own responses, for instance from an unsupported command. */
  async update(connection: string, catalog: Able): Promise<void> {
    await this.#learn(connection, catalog, []);
  }

  dispose(): void {
    this.#lifetime.abort();
    this.#changed.dispose();
  }

  async #learn(connection: string, catalog: Able, probe: readonly Operation[]): Promise<void> {
    const { signal } = this.#lifetime;
    try {
      const found = abilitiesOf(await catalog.capabilities({ probe, signal }));
      const before = this.of(connection);
      this.#known.set(connection, found);
      if (!signal.aborted && !isSame(before, found)) this.#changed.fire(connection);
    } catch (error) {
      if (!isAbort(error)) this.#report(`what "${connection}" can do`, error);
    }
  }
}

const isSame = <T>(a: ReadonlySet<T>, b: ReadonlySet<T>): boolean =>
  a.size === b.size && [...a].every((one) => b.has(one));
