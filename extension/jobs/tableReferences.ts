import { notRegistered } from '#catalog/connect.ts';
import { JobError } from '#shared/jobs/jobErrors.ts';
import type { BackfillOptions, BackfillRequest, TableReference } from '#shared/jobs/backfill.ts';
import type { JobTable, JobView } from '#shared/jobs/jobView.ts';
import { jobTableText } from '#shared/jobs/jobLabels.ts';
import type { Catalogs } from '../connections/catalogs.ts';
import type { Connections } from '../connections/connections.ts';
import type { Connection } from '../explorer/node.ts';
import type { TablePlace } from '../panels/tableSource.ts';
import type { RayConnections } from './rayAddresses.ts';

type TableReferencesDeps = {
  readonly connections: Pick<Connections, 'list' | 'get'>;
  readonly catalogs: Pick<Catalogs, 'config'>;
  readonly rays: Pick<RayConnections, 'withToken'>;
};

/** Creates references with which jobs open tables. Secrets come from VS Code's secret storage, never from a record. */
export class TableReferences {
  readonly #parts: TableReferencesDeps;

  constructor(parts: TableReferencesDeps) {
    this.#parts = parts;
  }

  /** @throws CatalogError if the connection is missing or can't be opened in this window */
  async of({ connection, path, table }: TablePlace): Promise<TableReference> {
    const catalog = await this.#parts.catalogs.config(connection);
    return { catalog, connection, namespacePath: path, name: table };
  }

  /**
   * Returns the table for display. @throws CatalogError Unsupported (0) for an implementation that is not registered
   */
  tableOf({ connection, path, table }: TablePlace): JobTable {
    const found = this.#parts.connections.get(connection);
    if (found.kind === 'other') throw notRegistered(found.implementation);
    return { catalog: connection, implementation: found.kind, namespacePath: path, name: table };
  }

  /**
   * Returns the request to run a job again. The record of the job holds no secrets, so this method reads them from the
   * secret storage.
   * @throws JobError RequestInvalid if no connection leads to the catalog of the job
   */
  async ofJob({ table, column, options }: JobView): Promise<BackfillRequest> {
    const place = this.placeOf(table);
    const reference = place && (await this.of(place));
    if (reference) return { ...(await this.withRay(options)), table: reference, column };
    if (table.implementation === 'dir') {
      const { catalog: root, namespacePath, name } = table;
      const bare = { catalog: { implementation: 'dir', root } as const, namespacePath, name };
      return { ...(await this.withRay(options)), table: bare, column };
    }
    throw new JobError(
      'RequestInvalid',
      `Can't open table "${jobTableText(table)}": VS Code has no connection to its catalog "${table.catalog}".`,
      'Add it with "Add REST Connection…", then try again.',
    );
  }

  /** Returns the connection and path of a job's table; `undefined` if no connection leads to its catalog. */
  placeOf({ catalog, implementation, namespacePath, name }: JobTable): TablePlace | undefined {
    const found = this.#parts.connections.list().find((one) => one.name === catalog || isAt(one, catalog));
    if (!found || found.kind !== implementation) return undefined;
    return { connection: found.name, path: namespacePath, table: name };
  }

  async withRay(options: BackfillOptions): Promise<BackfillOptions> {
    const { ray } = options;
    return ray && 'address' in ray ? { ...options, ray: await this.#parts.rays.withToken(ray) } : options;
  }
}

const isAt = (connection: Connection, catalog: string): boolean =>
  connection.kind !== 'other' && (connection.kind === 'dir' ? connection.root : connection.uri) === catalog;
