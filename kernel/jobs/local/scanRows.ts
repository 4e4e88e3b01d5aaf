import type { Data, RecordBatch } from '#arrow';
import { isCatalogError } from '#shared/errors.ts';
import { JobError } from '#shared/jobs/jobErrors.ts';
import { sqlName } from '#catalog/sqlText.ts';
import type { Table } from '#catalog/table/table.ts';
import { fragmentId, sliceRead, rowRuns, type ReadRows } from './rows.ts';
import { scopeBetween } from './source.ts';

/** A query of a pinned table. */
export type ScanRequest = {
  readonly table: Table;
  readonly scope: string;
  readonly inputs: readonly string[];
  readonly key?: string | undefined;
  /** SQL to evaluate for each row. */
  readonly expression?: string | undefined;
  /** Range of row addresses; `to` is exclusive. */
  readonly from?: bigint | undefined;
  readonly to?: bigint | undefined;
};

// Names of columns in addition to the inputs.
const address = '__lance_catalog_address';
const key = '__lance_catalog_key';
const value = '__lance_catalog_value';

/** Maximum number of consecutive retries of a broken stream without any new row. */
const patience = 5;

/**
 * Yields rows in scope in the order of their addresses, in batches within one fragment. If a server's stream breaks,
 * the scan continues after the last row.
 * @throws CatalogError as queries; JobError RunnerUnavailable if the server does not return row addresses in order
 */
export async function* scanRows(request: ScanRequest, signal: AbortSignal): AsyncGenerator<ReadRows, void, undefined> {
  let from = request.from ?? 0n;
  let failures = 0;
  for (;;) {
    try {
      for await (const rows of scanOnce({ ...request, from }, signal)) {
        failures = 0;
        from = rows.addresses.at(-1)! + 1n;
        yield rows;
      }
      return;
    } catch (error) {
      if (signal.aborted || !isCatalogError(error, 'ServiceUnavailable') || ++failures > patience) throw error;
    }
  }
}

async function* scanOnce(
  { table, scope, inputs, key: keyColumn, expression, from = 0n, to }: ScanRequest,
  signal: AbortSignal,
): AsyncGenerator<ReadRows, void, undefined> {
  const { batches } = await table
    .query()
    .where(scopeBetween(scope, from, to))
    .select({
      ...Object.fromEntries(inputs.map((name) => [name, sqlName(name)])),
      [address]: '_rowaddr',
      ...(keyColumn !== undefined && { [key]: sqlName(keyColumn) }),
      ...(expression !== undefined && { [value]: `(${expression})` }),
    })
    .execute({ signal });
  let last = from - 1n;
  for await (const batch of batches) {
    if (batch.numRows === 0) continue;
    const all = readRows(batch, inputs);
    for (const { start, end, is } of rowRuns(batch.numRows, (row) => fragmentId(all.addresses[row]!))) {
      const rows = { ...sliceRead(all, start, end), fragment: is };
      if (rows.addresses[0]! <= last) throw outOfOrder();
      last = rows.addresses.at(-1)!;
      yield rows;
    }
  }
}

function readRows(batch: RecordBatch, inputs: readonly string[]): Omit<ReadRows, 'fragment'> & { fragment: number } {
  const column = (name: string): Data | undefined => {
    const index = batch.schema.fields.findIndex((field) => field.name === name);
    return index < 0 ? undefined : batch.data.children[index];
  };
  const addresses: unknown = batch.getChild(address)?.toArray();
  if (!(addresses instanceof BigUint64Array)) throw outOfOrder();
  const only = inputs.map((name) => batch.schema.fields.find((field) => field.name === name)!);
  // Without inputs, the batch gets the addresses, because a batch without columns has no length.
  const picked = only.length > 0 ? batch.select([...inputs]) : batch.select([address]);
  return { fragment: 0, addresses, inputs: picked, key: column(key), value: column(value) };
}

const outOfOrder = (): JobError =>
  new JobError(
    'RunnerUnavailable',
    'The server does not return rows in the order of their addresses, which the runner "local" needs.',
    'Use another runner.',
  );
