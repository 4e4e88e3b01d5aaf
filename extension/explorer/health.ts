import * as vscode from 'vscode';
import type { Damage } from '#shared/damage.ts';
import { isAbort } from '#shared/errors.ts';
import type { Engine } from '../host/engine.ts';
import { dirConfigOf } from '../connections/catalogs.ts';
import type { Connection } from './node.ts';

/** The problems that inspections have found in the catalogs of directories. */
export class CatalogHealth implements vscode.Disposable {
  readonly #engine: Pick<Engine, 'inspect'>;
  readonly #report: (what: string, error: unknown) => void;
  readonly #found = new Map<string, readonly string[]>();
  readonly #running = new Set<string>();
  readonly #lifetime = new AbortController();
  readonly #changed = new vscode.EventEmitter<Connection>();
  readonly onDidChange = this.#changed.event;

  constructor(engine: Pick<Engine, 'inspect'>, report: (what: string, error: unknown) => void) {
    this.#engine = engine;
    this.#report = report;
  }

  /** Returns one message for each problem of a connection's catalog. */
  of(connection: string): readonly string[] {
    return this.#found.get(connection) ?? [];
  }

  /** Inspects a connection's catalog. The tree does not wait for the inspection; a failure is only logged. */
  async inspect(connection: Connection | undefined): Promise<void> {
    if (connection?.kind !== 'dir' || this.#running.has(connection.name)) return;
    this.#running.add(connection.name);
    try {
      const { left } = await this.#engine.inspect(dirConfigOf(connection), this.#lifetime.signal);
      this.set(connection, left);
    } catch (error) {
      if (!isAbort(error)) this.#report(`inspecting "${connection.name}"`, error);
    } finally {
      this.#running.delete(connection.name);
    }
  }

  /** Stores the result of an inspection or a repair. */
  set(connection: Connection, damages: readonly Damage[]): void {
    const problems = damages.map(({ message }) => message);
    const isSame = problems.join('\n') === this.of(connection.name).join('\n');
    this.#found.set(connection.name, problems);
    if (!isSame && !this.#lifetime.signal.aborted) this.#changed.fire(connection);
  }

  dispose(): void {
    this.#lifetime.abort();
    this.#changed.dispose();
  }
}
