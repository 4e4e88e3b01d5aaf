import * as vscode from 'vscode';
import type { Catalog } from '#catalog/catalog.ts';
import { isAbort } from '#shared/errors.ts';
import { abilitiesOf } from './abilityRules.ts';
import { allAbilities, type Ability } from '../explorer/node.ts';

type Able = Pick<Catalog, 'capabilities'>;

/** The abilities of each connection's catalog. A catalog has all abilities until its capabilities are known. */
export class Abilities implements vscode.Disposable {
  readonly #known = new Map<string, ReadonlySet<Ability>>();
  readonly #report: (what: string, error: unknown) => void;
  readonly #lifetime = new AbortController();
  readonly #changed = new vscode.EventEmitter<string>();
  /** Fires with the name of a connection whose abilities changed. */
  readonly onDidChange = this.#changed.event;

  constructor(report: (what: string, error: unknown) => void) {
    this.#report = report;
  }

  of(connection: string): ReadonlySet<Ability> {
    return this.#known.get(connection) ?? allAbilities;
  }

  /**
   * Updates the abilities from responses that the catalog has already received, such as the response to an unsupported
   * command. Sends no probe, because only a real change would show what the server allows.
   */
  async update(connection: string, catalog: Able): Promise<void> {
    const { signal } = this.#lifetime;
    try {
      const found = abilitiesOf(await catalog.capabilities({ signal }));
      const before = this.of(connection);
      this.#known.set(connection, found);
      if (!signal.aborted && !isSame(before, found)) this.#changed.fire(connection);
    } catch (error) {
      if (!isAbort(error)) this.#report(`reading the abilities of "${connection}"`, error);
    }
  }

  dispose(): void {
    this.#lifetime.abort();
    this.#changed.dispose();
  }
}

const isSame = <T>(a: ReadonlySet<T>, b: ReadonlySet<T>): boolean =>
  a.size === b.size && [...a].every((one) => b.has(one));
