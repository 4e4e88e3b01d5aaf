import { makeVector, RecordBatch, RecordBatchFileWriter, Table, tableToIPC } from '#arrow';
import { preference } from '#catalog/contract.ts';
import type { Wire, WireRequest, WireResponse } from '#catalog/transport/request.ts';
import { CatalogError } from '#shared/errors.ts';
import { arrowFileMime, arrowStreamMime } from '#shared/mime.ts';

/** How the server behind a stand-in responds to queries. */
export type Habits = {
  /** Always sends Arrow files, as in the specification. */
  filesOnly?: boolean;
  /** Returns at most this many rows, for any `k`. */
  maxRows?: number;
  /** Returns all rows, for any `k`. */
  ignoresLimit?: boolean;
  /** The bytes of every response to a query. */
  body?: Uint8Array;
  /** Reports no version of its tables. */
  noVersion?: boolean;
  /** The versions that it lists, in this order for any request. */
  versions?: readonly number[];
  /** Sends the first rows, for any `offset`. */
  ignoresOffset?: boolean;
  /** Has the same value in all rows. */
  equalRows?: boolean;
  /** Obeys `order_by`. */
  sorts?: boolean;
};

/**
 * Stands in for the connection to a server with one table of integers, for behavior that no server here has, such as
 * its own limit or versions that change between pages. The contract tests use real servers.
 */
export class WireStandIn implements Wire {
  readonly name = 'The stand-in';
  readonly requests: WireRequest[] = [];
  /** Number of bodies that were neither read completely nor destroyed. */
  open = 0;
  readonly #ids: readonly bigint[];
  readonly #habits: Habits;

  constructor(rows: number, habits: Habits = {}) {
    this.#ids = Array.from({ length: rows }, (_, row) => BigInt(habits.equalRows ? 7 : row));
    this.#habits = habits;
  }

  get queries(): { k: number; offset: number; version: unknown }[] {
    const bodies = this.requests.filter(({ operation }) => operation === 'QueryTable').map(({ json }) => json);
    return bodies.map((json) => {
      const { k, offset = 0, version } = json as { k: number; offset?: number; version?: number };
      return { k, offset, version };
    });
  }

  json(request: WireRequest): Promise<unknown> {
    this.requests.push(request);
    if (request.operation === 'DescribeTable') return Promise.resolve(this.#habits.noVersion ? {} : { version: 7 });
    if (request.operation === 'ListTableVersions')
      return Promise.resolve({ versions: (this.#habits.versions ?? []).map((version) => ({ version })) });
    if (request.operation === 'CountTableRows') return Promise.resolve(this.#ids.length);
    return Promise.reject(new CatalogError('Unsupported', `The stand-in does no ${request.operation}.`, ''));
  }

  send(request: WireRequest): Promise<WireResponse> {
    this.requests.push(request);
    const { k, offset: from = 0 } = request.json as { k: number; offset?: number };
    const { ignoresLimit, ignoresOffset, maxRows = k } = this.#habits;
    const offset = ignoresOffset ? 0 : from;
    const count = ignoresLimit ? this.#ids.length : Math.min(k, maxRows);
    const ids = this.#ids.slice(offset, offset + count);
    const isStream = !this.#habits.filesOnly && request.accept === arrowStreamMime;
    return Promise.resolve({
      contentType: isStream ? arrowStreamMime : arrowFileMime,
      applied: [isStream ? preference.completeRows : [], this.#habits.sorts ? preference.order : []].flat(),
      body: this.#body(this.#habits.body ?? (isStream ? tableToIPC(tableOf(ids), 'stream') : fileOf(tableOf(ids)))),
    });
  }

  unexpected(what: string, cause?: unknown): CatalogError {
    return new CatalogError('Internal', `${this.name} gave ${what}.`, '', { cause });
  }

  #body(bytes: Uint8Array): WireResponse['body'] {
    this.open += 1;
    let isOpen = true;
    const close = (): void => {
      if (isOpen) this.open -= 1;
      isOpen = false;
    };
    return {
      destroy: close,
      async *[Symbol.asyncIterator]() {
        for (let at = 0; at < bytes.length; at += 1000) yield bytes.subarray(at, at + 1000);
        close();
      },
    };
  }
}

/** Creates one batch for each 1,000 rows, so that a response has several. */
function tableOf(ids: readonly bigint[]): Table {
  const parts = Array.from({ length: Math.ceil(ids.length / 1000) }, (_, part) =>
    ids.slice(part * 1000, part * 1000 + 1000),
  );
  const tables = parts.map((part) => new Table({ id: makeVector(BigInt64Array.from(part)) }));
  const schema = new Table({ id: makeVector(new BigInt64Array()) }).schema;
  return new Table(
    schema,
    tables.flatMap((table) => table.batches.map((batch) => new RecordBatch(schema, batch.data))),
  );
}

const fileOf = (table: Table): Uint8Array => RecordBatchFileWriter.writeAll(table).toUint8Array(true);
