import assert from 'node:assert/strict';
import type { Suite } from 'mocha';
import type { Operation } from '#catalog/contract.ts';
import { messageOf } from '#shared/errors.ts';

/**
 * A deviation of upstream's REST server from the specification. On that server the cases of an entry must fail as
 * described. If a case passes, it must be removed from the entry.
 */
export type UpstreamGap = {
  readonly operation: Operation;
  readonly reason: string;
  /** Upstream's own thread, or the request and the response of the server. */
  readonly evidence: string;
  /** Titles of cases, by the title passed to `forEachSubject`. */
  readonly cases: Readonly<Record<string, readonly string[]>>;
  /** The expected failure message of each case. */
  readonly says: RegExp;
};

/** As of pylance 14.0.2. */
export const upstreamGaps: readonly UpstreamGap[] = [
  {
    operation: 'RenameTable',
    reason: 'The directories behind it have no rename.',
    evidence: 'https://github.com/lance-format/lance/issues/6960 (open)',
    cases: {
      renaming: [
        'gives a table another name, with its rows, versions and indexes',
        'moves a table to another namespace',
        'is seen by other clients of the same root, and the old name is free again',
        'refuses a name that is taken, and leaves both tables',
        'of what is not there, or to where nothing is, says so',
      ],
    },
    says: /rename_table not implemented/,
  },
  {
    operation: 'QueryTable',
    reason: 'The specification has no order of rows, and the server does not know our wish for one.',
    evidence: 'QueryTableRequest of release 0.11.1 has no such field; the answer has no Preference-Applied: order_by',
    cases: {
      'query options': [
        'sort by columns, up and down',
        'sort by a column that is not among those read',
        'put nulls where they are asked to be',
      ],
      'wrong queries': ['by a column that is not there do not sort'],
      'queries with the order of LanceDB': ['sort by columns'],
    },
    says: /can't sort rows/,
  },
  {
    operation: 'QueryTable',
    reason: 'It reads more partitions than requested as long as it finds too few rows.',
    evidence: 'query with k 400, nprobes 1 of 400 rows in 8 partitions: 400 rows',
    cases: { 'queries with the verbs of LanceDB': ['search as many partitions as requested'] },
    says: /^400$/,
  },
  {
    operation: 'QueryTable',
    reason: 'It reads every vector to search by as one of 32-bit numbers.',
    evidence: 'query with [255, 1] of a column of unsigned bytes: 400 {"error":"Invalid vector search: …","code":13}',
    cases: {
      'queries with the verbs of LanceDB': ['measure the distance of bits'],
      'nearest rows': ['of bytes are measured by their bits'],
    },
    says: /Column (vector|bytes) has element type UInt8 and the query vector is Float32/,
  },
  {
    operation: 'QueryTable',
    reason: 'It searches by the first of several vectors, and only a column with the name "vector" if none is named.',
    evidence: 'query with vector.multi_vector of two vectors: 200 with the rows of the first one, without query_index',
    cases: {
      'searches by several things': [
        'find the nearest rows of several vectors',
        'find lists of vectors that are nearest to all',
      ],
      'nearest rows': ['of lists of vectors are those that are nearest to all of the vectors'],
    },
    says: /can't search by several vectors|has no column "vector"/,
  },
  {
    operation: 'CreateTableScalarIndex',
    reason: 'The specification has no options for n-grams, stop words and blocks.',
    evidence: 'CreateTableIndexRequest of release 0.11.1 has no such fields',
    cases: { 'full-text queries': ['find parts of words, and not the words to ignore, by the options of the index'] },
    says: /has no options for n-grams/,
  },
  {
    operation: 'DescribeTable',
    reason: 'It knows branches of tables in their own operations and those of versions alone.',
    evidence:
      'https://github.com/lance-format/lance/pull/7166; seen: describe, query and insert with branch "try" work on main',
    cases: { branches: ['go their own way from a version'] },
    says: /ignores branches/,
  },
  {
    operation: 'DropTable',
    reason: 'It looks for the files of a table whose name is not ASCII where the name is percent-encoded.',
    evidence:
      'drop of "ümlaut$ümlaut": 500 {"error":"Failed to delete table directory: NotFound { uri: …%C3%BCmlaut…","code":18}',
    cases: { names: ['that upstream made are listed, opened, read and dropped whatever they are: ümlaut, 東京'] },
    says: /Failed to delete table directory/,
  },
  {
    operation: 'CreateTable',
    reason: 'It names the folder of a table by the whole identifier, of which file systems allow 255 bytes.',
    evidence:
      'create of a table of 128 characters ten namespaces deep: 500 {"error":"Failed to write dataset: …","code":18}',
    cases: {
      'tables and namespaces of one name': [
        'names as long as the rule allows are created, listed, renamed and dropped',
      ],
    },
    says: /Failed to write dataset/,
  },
  {
    operation: 'InsertIntoTable',
    reason: 'Rows without a column that may not be null are an error of the server to it.',
    evidence: 'insert of such: 500 {"error":"Failed to write table …: Append with different schema: …","code":18}',
    cases: { writing: ['follows a schema with columns that may not be null'] },
    says: /^Internal instead of SchemaValidation: .*missing=\[id\]/,
  },
  {
    operation: 'AlterTableAddColumns',
    reason: 'A column of a name that is taken is a conflict with another writer to it.',
    evidence:
      'add_columns of "id": 409 {"error":"Object \'t\' was concurrently created by another operation: … Column id already exists …","code":14}',
    cases: { columns: ['that are wrong say what is wrong, and nothing changes'] },
    says: /^ConcurrentModification instead of InvalidInput: .*Column id already exists/,
  },
  {
    operation: 'UpdateFieldMetadata',
    reason: 'The directories behind it have no call for it.',
    evidence: 'update_field_metadata: 500 {"error":"Not supported: update_field_metadata not implemented","code":18}',
    cases: { columns: ['keep what is to be known of them, entry by entry'] },
    says: /Use a server that supports it/,
  },
  {
    operation: 'OptimizeTable',
    reason: 'The specification has no such operation; ours is an extension.',
    evidence: 'optimize: 404 {"detail":"Not Found"}',
    cases: {
      optimizing: [
        'joins fragments, and keeps rows, versions and tags',
        'adds all rows to the indexes',
        'changes nothing if there is nothing to join',
        'works beside clients that add, change and delete rows',
      ],
    },
    says: /the server does not have this operation\. Run "lance-catalog optimize"/,
  },
  {
    operation: 'UpdateTableSchemaMetadata',
    reason: 'It takes texts alone, and so can not take an entry away.',
    evidence: 'schema_metadata/update with {"note":"a"} after {"owner":"ada","note":"a"}: owner is still there',
    cases: { 'metadata of a schema': ['is removed by null'] },
    says: /can't remove metadata/,
  },
];

/** Inverts the cases of a suite that have a gap: each passes if it fails as its entry describes. */
export function expectGaps(title: string, suite: Suite): void {
  for (const gap of upstreamGaps) {
    for (const name of gap.cases[title] ?? []) expectGap(gap, name, suite);
  }
}

function expectGap(gap: UpstreamGap, name: string, suite: Suite): void {
  const test = suite.tests.find((one) => one.title === name);
  if (!test?.fn) throw new Error(`upstreamGaps.ts names a case that is not there: "${name}" of "${suite.title}".`);
  const run = test.fn as (this: unknown) => Promise<void>;
  test.title += ` (a gap of upstream: ${gap.operation})`;
  test.fn = async function (this: unknown) {
    const failure = await failureOf(() => run.call(this));
    assert.ok(failure !== undefined, `Upstream does this now: take "${name}" out of upstreamGaps.ts.`);
    assert.match(failure, gap.says);
  };
}

async function failureOf(run: () => Promise<void>): Promise<string | undefined> {
  try {
    await run();
    return undefined;
  } catch (error) {
    return messageOf(error);
  }
}
