import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { makeVector, Table, tableToIPC, vectorFromArray } from '#arrow';
import { arrowStreamMime } from '#shared/mime.ts';

type Job = Record<string, unknown> & { job_id: string };

/**
 * Stands in for a server that runs jobs, because no such server is available. Its formats are those of upstream's own
 * client. It keeps jobs in memory, lists them in pages of two, and finishes a backfill after two requests for its
 * state.
 */
export class JobsServerStandIn {
  readonly #server: Server;
  readonly #jobs: Job[] = [];
  /** The bodies of requests, with their paths. */
  readonly asked: { path: string; body: Record<string, unknown> }[] = [];

  private constructor(server: Server) {
    this.#server = server;
  }

  static async start(): Promise<JobsServerStandIn> {
    const server = createServer((request, response) => void stand.#answer(request, response));
    const stand = new JobsServerStandIn(server);
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return stand;
  }

  get uri(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** Adds a job in the form of a list; `described` are the fields of its description. */
  add(job: Job): void {
    this.#jobs.push(job);
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    this.#server.close();
    await once(this.#server, 'close');
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const path = (request.url ?? '').replace(/\?.*/, '');
    const body = (chunks.length > 0 ? JSON.parse(Buffer.concat(chunks).toString()) : {}) as Record<string, unknown>;
    this.asked.push({ path, body });
    const json = (status: number, value: unknown): void => {
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(value));
    };
    if (path === '/v1/jobs/list') return json(200, this.#page(Number(body['page_token'] ?? 0)));
    if (path === '/v1/table/t/backfill_column') return json(200, { job_id: this.#backfill() });
    if (path === '/v1/table/t/describe') return json(200, { version: 1 });
    const job = this.#jobs.find(({ job_id }) => job_id === body['job_id']);
    if (!job) return json(404, { error: `no job ${String(body['job_id'])}`, code: 13 });
    if (path === '/v1/jobs/describe') return json(200, described(job));
    if (path === '/v1/jobs/cancel') {
      job['state'] = 'CANCELLED';
      return json(200, {});
    }
    if (path !== '/v1/jobs/query_events') return json(404, { error: path, code: 0 });
    const events = new Table({ at: makeVector(BigInt64Array.of(1n, 2n)), what: vectorFromArray(['started', 'done']) });
    response.writeHead(200, { 'content-type': arrowStreamMime }).end(tableToIPC(events, 'stream'));
  }

  #page(start: number): unknown {
    const jobs = this.#jobs.slice(start, start + 2);
    return { jobs, ...(start + 2 < this.#jobs.length && { page_token: String(start + 2) }) };
  }

  #backfill(): string {
    const job_id = `job-${this.#jobs.length + 1}`;
    this.add({
      job_id,
      table: 't',
      job_type: 'backfill_column',
      state: 'IN_PROGRESS',
      created_at_millis: 1000,
      asked: 0,
    });
    return job_id;
  }
}

function described(job: Job): unknown {
  const asked = (job['asked'] = Number(job['asked'] ?? 0) + 1);
  if (job['job_type'] === 'backfill_column' && job['state'] === 'IN_PROGRESS' && asked > 1) job['state'] = 'DONE';
  const { state, created_at_millis, asked: _, ...more } = job;
  return { ...more, job_state: state, creation_ms: created_at_millis };
}
