import { randomUUID } from 'node:crypto';
import type { Catalog } from '#catalog/catalog.ts';
import { cancellable } from '#processes/calls.ts';
import { CatalogError } from '#shared/errors.ts';
import type { FromCore } from '#session/threads/coreMessages.ts';
import type { NamedConnection } from '#shared/protocol/kernelMessages.ts';
import { chosenCatalog } from './chosenCatalog.ts';

/**
 * The connections of the client, such as those of a window, which queries read by name. The client is asked each time,
 * because the user may add, change and remove connections while the kernel runs.
 */
export class ClientConnections {
  readonly #post: (message: FromCore) => void;
  readonly #waiting = new Map<string, (answer: NamedConnection) => void>();
  readonly #open = new Map<string, { config: string; catalog: Catalog }>();

  constructor(post: (message: FromCore) => void) {
    this.#post = post;
  }

  async names(signal: AbortSignal): Promise<readonly string[]> {
    return (await this.#ask(null, signal)).names;
  }

  /**
   * Returns the catalog of a connection; undefined if there is none with this name.
   * @throws CatalogError InvalidInput (13) if the client can't open it
   */
  async open(name: string, signal: AbortSignal): Promise<Catalog | undefined> {
    const { config, problem } = await this.#ask(name, signal);
    if (problem !== null)
      throw new CatalogError('InvalidInput', `Can't use the connection "${name}": ${problem}`, 'Check the connection.');
    if (!config) return undefined;
    const written = JSON.stringify(config);
    const known = this.#open.get(name);
    if (known?.config === written) return known.catalog;
    // A catalog with the earlier address or key may still be in use, so it is not closed.
    const catalog = chosenCatalog(config);
    this.#open.set(name, { config: written, catalog });
    return catalog;
  }

  /** Delivers an answer of the client. */
  settle(id: string, answer: NamedConnection): void {
    this.#waiting.get(id)?.(answer);
    this.#waiting.delete(id);
  }

  async #ask(name: string | null, signal: AbortSignal): Promise<NamedConnection> {
    const id = `connection-${randomUUID()}`;
    const answered = new Promise<NamedConnection>((resolve) => this.#waiting.set(id, resolve));
    this.#post({ type: 'connection', id, name });
    try {
      return await cancellable(answered, signal);
    } finally {
      this.#waiting.delete(id);
    }
  }
}
