import type { Catalog } from '#catalog/catalog.ts';
import type { BranchInfo, TagInfo } from '#catalog/table/tagsBranches.ts';
import { type NotSupported, noBlobs, noViews, unsupportedValue } from './unsupported.ts';

// Exports of LanceDB's package that this client does not have, for code that imports them.

const permutationHint =
  'This client has no permutations: read the rows of a split by a filter, for instance where("id % 10 < 8").';
const headerHint = 'Pass the headers of a server to connectNamespace("rest", { uri, headers }).';
const blobHint = 'This client has no blob columns: declare the field as new arrow.LargeBinary().';
const metricsHint = 'Measure calls in your own code, or read the metrics of "lance-catalog serve".';
const tokenizeHint =
  'Split a string as an index of text does, with table.tokenize(text, { column: "name" }), for a table in a directory.';
const tokenHint = 'Pass the token of a server to connectNamespace("rest", { uri, token }).';
const jobHint = 'Call db.jobs.describe(id) for a job of a server, or await table.backfill().';
const batchesHint = 'Pass any async iterable of record batches to createTable() or add().';
const sessionHint = 'The engine chooses the sizes of its caches. Leave the session out.';

export * as embedding from './embeddingModule.ts';
export { MakeArrowTableOptions, VectorColumnOptions } from './makeArrowTable.ts';

/** Not supported. */
export const permutationBuilder = unsupportedValue('permutationBuilder', permutationHint);
/** Not supported. */
export type PermutationBuilder = NotSupported<typeof permutationHint>;
export const PermutationBuilder = unsupportedValue('PermutationBuilder', permutationHint);
/** Not supported. */
export type HeaderProvider = NotSupported<typeof headerHint>;
export const HeaderProvider = unsupportedValue('HeaderProvider', headerHint);
/** Not supported. */
export type StaticHeaderProvider = NotSupported<typeof headerHint>;
export const StaticHeaderProvider = unsupportedValue('StaticHeaderProvider', headerHint);
/** Not supported. */
export type OAuthHeaderProvider = NotSupported<typeof tokenHint>;
export const OAuthHeaderProvider = unsupportedValue('OAuthHeaderProvider', tokenHint);
/** Not supported. */
export const blob = unsupportedValue('blob', blobHint);
/** Not supported. */
export const isBlobField = unsupportedValue('isBlobField', blobHint);
/** Not supported. */
export const instrumentLanceDbMetrics = unsupportedValue('instrumentLanceDbMetrics', metricsHint);
/** Not supported. */
export const tokenize = unsupportedValue('tokenize', tokenizeHint);
/** Not supported. */
export type Session = NotSupported<typeof sessionHint>;
export const Session = unsupportedValue('Session', sessionHint);
/** Not supported. */
export type BlobFile = NotSupported<typeof noBlobs>;
export const BlobFile = unsupportedValue('BlobFile', noBlobs);
/** Not supported. */
export type Job = NotSupported<typeof jobHint>;
export const Job = unsupportedValue('Job', jobHint);
/** Not supported. */
export type MaterializedView = NotSupported<typeof noViews>;
export const MaterializedView = unsupportedValue('MaterializedView', noViews);
/** Not supported. */
export type NativeJsHeaderProvider = NotSupported<typeof headerHint>;
export const NativeJsHeaderProvider = unsupportedValue('NativeJsHeaderProvider', headerHint);
/** Not supported. */
export type OAuthFlowType = NotSupported<typeof tokenHint>;
export const OAuthFlowType = unsupportedValue('OAuthFlowType', tokenHint);
/** Not supported. */
export const RecordBatchIterator = unsupportedValue(
  'RecordBatchIterator',
  'Iterate over a query: "for await (const batch of query.execute())".',
);
/** Not supported. */
export type Scannable = NotSupported<typeof batchesHint>;
export const Scannable = unsupportedValue('Scannable', batchesHint);

// Classes of LanceDB's package that are only types here.

export type Connection = Catalog;
/** Not supported as a value. */
export const Connection = unsupportedValue(
  'Connection',
  'Call connect() or connectNamespace(), which return a catalog.',
);
export type BranchContents = BranchInfo;
/** Not supported as a value. */
export const BranchContents = unsupportedValue('BranchContents', 'Call table.branches().list().');
export type TagContents = TagInfo;
/** Not supported as a value. */
export const TagContents = unsupportedValue('TagContents', 'Call table.tags().list().');
