import { Field, Float32, makeData, RecordBatch, Schema, Struct, Uint64, vectorFromArray, type Data } from '#arrow';
import type { CallOptions } from '#catalog/arguments/options.ts';
import { gatherRows } from '#catalog/arrow/gatherRows.ts';
import { untilBytes } from '#catalog/arrow/untilBytes.ts';
import { joinBatches } from '#catalog/arrow/joinBatches.ts';
import { schemaText } from '#shared/arrow/arrowTypes.ts';
import { CatalogError } from '#shared/errors.ts';
import { wordsOfQuery } from './fullTextQuery.ts';
import type { BatchStream, QueryRunner, QuerySpec } from './querySpec.ts';
import { RRFReranker } from './rerankers.ts';

// A search by vector and by text runs as two queries, on every server: the specification has no such search, and the
// engine's own search of this kind loses the distances and scores, and can't explain its plan.

/** Whether a query searches by vector and by text. */
export const isHybrid = ({ vector, fullText }: QuerySpec): boolean => vector !== undefined && fullText !== undefined;

/** Columns that a search adds, in their order in the result. */
const added = ['_rowid', '_distance', '_score', '_relevance_score'] as const;
const isAdded = (name: string): boolean => (added as readonly string[]).includes(name);

/** Returns a runner that also runs searches by vector and text. */
export const hybridRunner = (runner: QueryRunner): QueryRunner => ({
  async run(spec, signal) {
    if (isHybrid(spec)) return runHybrid(runner, spec, signal);
    checkNoReranker(spec);
    return runner.run(spec, signal);
  },
  explainPlan: (spec, options) => bothPlans(spec, (part) => runner.explainPlan(part, options)),
  analyzePlan: (spec, options: CallOptions) => bothPlans(spec, (part) => runner.analyzePlan(part, options)),
});

function checkNoReranker({ rerank }: QuerySpec): void {
  if (!rerank) return;
  const hint = 'Write for instance query().nearestTo(vector).fullTextSearch("red mug").rerank().';
  throw new CatalogError('InvalidInput', 'rerank needs a search by vector and a search by text.', hint);
}

async function bothPlans(spec: QuerySpec, plan: (part: QuerySpec) => Promise<string>): Promise<string> {
  if (!isHybrid(spec)) return plan(spec);
  const [byVector, byText] = partsOf(spec);
  return `Search by vector:\n${await plan(byVector)}\nSearch by text:\n${await plan(byText)}`;
}

/**
 * Returns the queries of the two searches. Each search finds as many rows as requested, because one of them may find
 * all of the best rows.
 */
function partsOf(spec: QuerySpec): [byVector: QuerySpec, byText: QuerySpec] {
  const { vector, fullText, columns, offset = 0, rerank: _, orderBy, maxBytes: __, ...common } = spec;
  if (orderBy) {
    const what = 'The rows of a search are always in the order of their relevance.';
    throw new CatalogError('InvalidInput', what, 'Leave out orderBy(), or sort the result.');
  }
  if (vector?.more?.length) {
    const hint = 'Search by one vector, or leave out fullTextSearch().';
    throw new CatalogError('Unsupported', "A search by several vectors can't be combined with one by text.", hint);
  }
  const limit = spec.limit === 0 ? 0 : (spec.limit ?? 10) + offset;
  const plain: QuerySpec = {
    ...common,
    ...(columns && { columns: columns.filter((name) => !isAdded(name)) }),
    withRowId: true,
    limit,
  };
  return [
    { ...plain, vector: vector! },
    { ...plain, fullText: fullText! },
  ];
}

/**
 * The rows that a search found, with only the columns of the table. `values` has the distance or score of each row by
 * its id.
 */
type Found = { schema: Schema; batches: RecordBatch[]; ids: bigint[]; values: Map<bigint, number> };

async function runHybrid(runner: QueryRunner, spec: QuerySpec, signal?: AbortSignal): Promise<BatchStream> {
  const [byVector, byText] = partsOf(spec);
  const [near, matching] = await Promise.all([
    runner.run(byVector, signal).then((rows) => read(rows, '_distance')),
    runner.run(byText, signal).then((rows) => read(rows, '_score')),
  ]);
  if (schemaText(near.schema) !== schemaText(matching.schema)) {
    const what = 'The columns of the table changed between the two searches of a query.';
    throw new CatalogError('ConcurrentModification', what, 'Run the query again.');
  }
  const { limit = 10, offset = 0 } = spec;
  const ranked = limit === 0 ? [] : await rank(spec, near, matching);
  return resultOf(spec, near, matching, ranked.slice(offset, offset + limit));
}

async function read({ schema, batches }: BatchStream, value: '_distance' | '_score'): Promise<Found> {
  const fields = schema.fields.filter(({ name }) => !isAdded(name));
  const found: Found = { schema: new Schema(fields, schema.metadata), batches: [], ids: [], values: new Map() };
  for await (const batch of batches) {
    const ids = batch.getChild('_rowid');
    const values = batch.getChild(value);
    for (let row = 0; row < batch.numRows; row++) {
      const id = BigInt(ids!.get(row));
      found.ids.push(id);
      found.values.set(id, Number(values?.get(row)));
    }
    const children = schema.fields.flatMap(({ name }, at) => (isAdded(name) ? [] : [batch.data.children[at]!]));
    found.batches.push(batchOf(found.schema, batch.numRows, children));
  }
  return found;
}

const batchOf = (schema: Schema, length: number, children: readonly Data[]): RecordBatch =>
  new RecordBatch(schema, makeData({ type: new Struct(schema.fields), length, nullCount: 0, children: [...children] }));

type Ranked = { id: bigint; score: number };

async function rank(
  { rerank = new RRFReranker(), fullText }: QuerySpec,
  near: Found,
  matching: Found,
): Promise<Ranked[]> {
  if (rerank instanceof RRFReranker) return rerank.fuse([near.ids, matching.ids]);
  const { query } = fullText!;
  const words = typeof query === 'string' ? query : wordsOfQuery(query);
  const result = await rerank.rerankHybrid(words, rerankerInput(near, '_distance'), rerankerInput(matching, '_score'));
  const [ids, scores] = [result.getChild('_rowid'), result.getChild('_relevance_score')];
  const known = new Set([...near.ids, ...matching.ids]);
  const ranked = Array.from({ length: result.numRows }, (_, row) => ({
    id: BigInt(ids?.get(row) ?? -1n),
    score: Number(scores?.get(row)),
  }));
  if (ids && scores && ranked.every(({ id }) => known.has(id))) return ranked;
  throw new CatalogError(
    'InvalidInput',
    'The reranker returned a row that it did not receive, or rows without the column "_rowid" or "_relevance_score".',
    'Return rows of its two arguments, with their _rowid and a _relevance_score.',
  );
}

function rerankerInput({ schema, batches, ids, values }: Found, name: '_distance' | '_score'): RecordBatch {
  const fields = [...schema.fields, new Field('_rowid', new Uint64(), true), new Field(name, new Float32(), true)];
  const whole = joinBatches(batches, Infinity);
  if (whole.length > 1) {
    const what = "Can't pass the rows to your reranker: they are in several batches, and their types can't be joined.";
    throw new CatalogError(
      'Unsupported',
      what,
      'With select(), leave out columns with dictionaries, views, maps or unions.',
    );
  }
  const extra = [
    vectorFromArray(ids, new Uint64()),
    vectorFromArray(
      ids.map((id) => values.get(id)!),
      new Float32(),
    ),
  ];
  const columns = ids.length === 0 ? schema.fields.map(({ type }) => makeData({ type })) : whole[0]!.data.children;
  return batchOf(new Schema(fields), ids.length, [...columns, ...extra.map(({ data }) => data[0]!)]);
}

function resultOf(
  { withRowId, columns, maxBytes }: QuerySpec,
  near: Found,
  matching: Found,
  ranked: readonly Ranked[],
): BatchStream {
  const rowOf = new Map<bigint, number>();
  matching.ids.forEach((id, row) => rowOf.set(id, near.ids.length + row));
  near.ids.forEach((id, row) => rowOf.set(id, row));
  const hasRowId = withRowId === true || (columns?.includes('_rowid') ?? false);
  const extra = [
    ...(hasRowId ? [new Field('_rowid', new Uint64(), true)] : []),
    ...added.slice(1).map((name) => new Field(name, new Float32(), true)),
  ];
  const schema = new Schema([...near.schema.fields, ...extra], near.schema.metadata);
  const matchingBatches = matching.batches.map(({ numRows, data }) => batchOf(near.schema, numRows, data.children));
  async function* yieldRows(): AsyncGenerator<RecordBatch> {
    const rows = ranked.map(({ id }) => rowOf.get(id)!);
    let start = 0;
    for (const batch of inParts([...near.batches, ...matchingBatches], rows)) {
      const part = ranked.slice(start, (start += batch.numRows));
      const floats = (valueOf: (row: Ranked) => number | undefined): Data =>
        vectorFromArray(
          part.map((row) => valueOf(row) ?? null),
          new Float32(),
        ).data[0]!;
      const ids = hasRowId
        ? [
            vectorFromArray(
              part.map(({ id }) => id),
              new Uint64(),
            ).data[0]!,
          ]
        : [];
      yield batchOf(schema, batch.numRows, [
        ...batch.data.children,
        ...ids,
        floats(({ id }) => near.values.get(id)),
        floats(({ id }) => matching.values.get(id)),
        floats(({ score }) => score),
      ]);
    }
  }
  return { schema, batches: untilBytes(yieldRows(), maxBytes, ({ data }) => data.byteLength) };
}

/** Number of rows in a batch of the result. Batches are small, so that a limit of bytes can end the result early. */
const partRows = 256;

function* inParts(batches: readonly RecordBatch[], rows: readonly number[]): Generator<RecordBatch> {
  for (let at = 0; at < rows.length; at += partRows) yield* gatherRows(batches, rows.slice(at, at + partRows));
}
