import { CatalogNames, limitMilliseconds, type FittingNames, type NameRequest } from '#catalog/names/catalogNames.ts';
import type { Naming } from '#shared/catalogConfig.ts';
import type { Catalogs } from './catalogs.ts';
import type { Connections } from './connections.ts';

/** Names of tables, namespaces and columns for completion, read from the catalogs of connections. */
export class ConnectionNames {
  readonly #catalogs: Pick<Catalogs, 'get'>;
  readonly #connections: Pick<Connections, 'list'>;
  readonly #byConnection = new Map<string, CatalogNames>();

  constructor(catalogs: Pick<Catalogs, 'get'>, connections: Pick<Connections, 'list'>) {
    this.#catalogs = catalogs;
    this.#connections = connections;
  }

  /** Returns the names of a connection that fit. The catalog of the connection is named `db` in `naming`. */
  async fitting(connection: string, naming: Naming, request: NameRequest): Promise<FittingNames> {
    let names = this.#byConnection.get(connection);
    if (!names) {
      const others = () => this.#connections.list().flatMap(({ name }) => (name === connection ? [] : [name]));
      // Only a kernel knows further catalogs, which cells connect to.
      names = new CatalogNames({
        catalog: async (variable) => (variable === 'db' ? this.#catalogs.get(connection) : undefined),
        otherNames: async () => others(),
        other: async (other) => (others().includes(other) ? this.#catalogs.get(other) : undefined),
        // Wait for the first request, which starts the engine. VS Code would treat an empty result as final, suggest
        // words of the document and not request again at the next letter. The user's next key cancels the request.
        patienceMilliseconds: limitMilliseconds,
      });
      this.#byConnection.set(connection, names);
    }
    return names.fitting(naming, request);
  }

  /** Drops all names: a connection may now have another catalog, or a catalog other tables. */
  clear(): void {
    this.#byConnection.clear();
  }
}
