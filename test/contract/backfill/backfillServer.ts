import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Table as ArrowTable, tableToIPC, vectorFromArray } from '#arrow';
import type { DirCatalog } from '#engine/dir/dirCatalog.ts';
import { type ContractHandler, createContractHandler } from '#engine/server/server.ts';
import { arrowStreamMime } from '#shared/mime.ts';

type Json = Record<string, unknown>;
type State = 'QUEUED' | 'IN_PROGRESS' | 'DONE' | 'FAILED' | 'CANCELLED';

type ServerJob = {
  readonly job_id: string;
  readonly table: string;
  readonly spec: Json;
  readonly creation_ms: number;
  state: State;
  failure?: Json;
  readonly events: string[];
};

/** Behavior of the stand-in, set by the test. */
export type Behaviour = {
  /** The SQL expression of each column, instead of the server's functions. */
  readonly columns: Readonly<Record<string, string>>;
  /** Jobs stay in this state until `release` is called. */
  hold?: 'QUEUED' | 'IN_PROGRESS' | undefined;
  /** If set, every job fails with this failure and computes nothing. */
  failure?: Json | undefined;
};

/**
 * Stands in for a server that has computed columns and runs jobs, because no such server is available. Its tables are
 * real: our own server's handler serves them from a directory. The routes of jobs follow the specification
 * ("AlterTableBackfillColumnsRequest", 202 with `job_id`), and those of `/v1/jobs` follow upstream's client. The
 * stand-in computes real values with SQL.
 */
export class BackfillServerStandIn {
  readonly behaviour: Behaviour;
  /** The bodies of requests, with their paths. */
  readonly asked: { readonly path: string; readonly body: Json }[] = [];
  readonly jobs: ServerJob[] = [];
  /** If set, every response has this status, as if the server was unavailable. */
  away: number | undefined;
  /** Breaks the connection of the next backfill after its start, so that the response is lost. */
  losesAnswer = false;
  readonly #server: Server;
  readonly #catalog: DirCatalog;
  readonly #contract: ContractHandler;
  readonly #fields: ReadonlySet<string>;

  private constructor(catalog: DirCatalog, behaviour: Behaviour, fields: ReadonlySet<string>) {
    this.behaviour = behaviour;
    this.#catalog = catalog;
    this.#fields = fields;
    this.#contract = createContractHandler({
      authorize: () => {},
      catalogOf: async () => catalog,
      log: (line) => process.emitWarning(line),
    });
    this.#server = createServer((request, response) => void this.#answer(request, response));
  }

  static async start(catalog: DirCatalog, behaviour: Behaviour): Promise<BackfillServerStandIn> {
    const stand = new BackfillServerStandIn(catalog, behaviour, await fieldsOfRequest());
    stand.#server.listen(0, '127.0.0.1');
    await once(stand.#server, 'listening');
    return stand;
  }

  get uri(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** Continues the held jobs. */
  async release(): Promise<void> {
    delete this.behaviour.hold;
    for (const job of this.jobs) if (job.state === 'QUEUED' || job.state === 'IN_PROGRESS') await this.#compute(job);
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    this.#server.close();
    await once(this.#server, 'close');
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const path = (request.url ?? '').replace(/\?.*/, '');
    const [, id] = /^\/v1\/table\/([^/]+)\/backfill_column$/.exec(path) ?? [];
    if (this.away !== undefined) return refuse(response, this.away, 'away', this.away === 406 ? 0 : 17);
    if (id === undefined && !path.startsWith('/v1/jobs/')) return this.#contract.handle(request, response);
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const body = JSON.parse(Buffer.concat(chunks).toString() || '{}') as Json;
    this.asked.push({ path, body });
    if (id !== undefined) return this.#backfill(decodeURIComponent(id), body, response);
    if (path === '/v1/jobs/list') return reply(response, 200, { jobs: this.jobs.map(listed) });
    const job = this.jobs.find(({ job_id }) => job_id === body['job_id']);
    if (!job) return refuse(response, 404, `There is no job ${String(body['job_id'])}.`, 13);
    if (path === '/v1/jobs/cancel') {
      job.state = 'CANCELLED';
      return reply(response, 200, {});
    }
    if (path === '/v1/jobs/query_events') {
      const events = new ArrowTable({ what: vectorFromArray(job.events) });
      response.writeHead(200, { 'content-type': arrowStreamMime }).end(tableToIPC(events, 'stream'));
      return;
    }
    reply(response, 200, described(job));
  }

  async #backfill(table: string, body: Json, response: ServerResponse): Promise<void> {
    const strange = Object.keys(body).find((field) => !this.#fields.has(field));
    if (strange !== undefined) return refuse(response, 400, `The specification has no field ${strange}.`, 13);
    const column = String(body['column']);
    if (!Object.hasOwn(this.behaviour.columns, column))
      return refuse(response, 400, `${column} is no computed column.`, 13);
    const job: ServerJob = {
      job_id: `server-${this.jobs.length + 1}`,
      table,
      spec: body,
      creation_ms: Date.now(),
      state: 'QUEUED',
      events: ['accepted'],
    };
    this.jobs.push(job);
    if (this.behaviour.hold === undefined) await this.#compute(job);
    else job.state = this.behaviour.hold;
    if (this.losesAnswer) {
      this.losesAnswer = false;
      response.destroy();
      return;
    }
    reply(response, 202, { job_id: job.job_id });
  }

  async #compute(job: ServerJob): Promise<void> {
    const { failure, columns } = this.behaviour;
    if (failure) {
      Object.assign(job, { state: 'FAILED', failure });
      return;
    }
    const column = String(job.spec['column']);
    const path = job.table.split('$');
    const table = await this.#catalog.openTable(path.at(-1) ?? '', path.slice(0, -1));
    const where = typeof job.spec['where'] === 'string' ? job.spec['where'] : `${column} IS NULL`;
    await table.update({ where, valuesSql: { [column]: columns[column] ?? 'NULL' } });
    job.events.push('done');
    job.state = 'DONE';
  }
}

/** Returns the allowed fields of a backfill's body, read from the specification. */
async function fieldsOfRequest(): Promise<ReadonlySet<string>> {
  const file = new URL('../../fixtures/namespace-spec/lance-namespace-spec-0.11.1.yaml', import.meta.url);
  const text = await readFile(file, 'utf8');
  const [, section = ''] = /\n {4}AlterTableBackfillColumnsRequest:\n([\s\S]*?)\n {4}\S/.exec(text) ?? [];
  const [, properties = ''] = /\n {6}properties:\n([\s\S]*)/.exec(section) ?? [];
  const fields = [...properties.matchAll(/^ {8}(\w+):/gm)].map(([, name = '']) => name);
  if (!fields.includes('column')) throw new Error('The specification does not say what a backfill takes.');
  return new Set(fields);
}

const listed = ({ job_id, table, state, creation_ms }: ServerJob): Json => ({
  job_id,
  table,
  job_type: 'backfill_column',
  state,
  created_at_millis: creation_ms,
});

const described = ({ job_id, table, spec, creation_ms, state, failure }: ServerJob): Json => ({
  job_id,
  table,
  job_type: 'backfill_column',
  job_state: state,
  creation_ms,
  spec,
  ...(failure && { failure }),
});

function reply(response: ServerResponse, status: number, value: unknown): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(value));
}

const refuse = (response: ServerResponse, status: number, error: string, code: number): void =>
  reply(response, status, { error, code });
