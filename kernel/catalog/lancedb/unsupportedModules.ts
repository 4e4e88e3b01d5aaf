import { type NotSupported, notSupported } from './unsupported.ts';

// Exports of LanceDB's package that this client does not have, for code that imports them.

const embeddingHint =
  'There is no registry of embedding functions here: compute the vectors and store them in a column, or fill a column with table.backfill().';
const permutationHint =
  'There are no permutations here: read the rows of a split by a filter, for instance where("id % 10 < 8").';
const headerHint = 'Headers of a server are set by connectNamespace("rest", { uri, headers }).';
const blobHint = 'There are no blob columns here: declare the field as new arrow.LargeBinary().';
const metricsHint = 'Measure calls in your own code, or read the metrics of "lance-catalog serve".';
const tokenizeHint =
  'Split a string as an index of text does, with table.tokenize(text, { column: "name" }), for a table in a directory.';
const sessionHint = 'The engine chooses the sizes of its caches. Leave the session out.';

/** A value whose properties and calls reject with the hint. */
function unsupportedValue<Hint extends string>(name: string, hint: Hint): NotSupported<Hint> {
  const refuse = (): never => {
    throw notSupported(name, hint);
  };
  const proxy: unknown = new Proxy(refuse, {
    // Symbols and `then` are read by outputs and by `await`, not by the user's code.
    get: (_, key) => (typeof key === 'symbol' || key === 'then' ? undefined : refuse()),
    construct: refuse,
  });
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the type only carries the hint
  return proxy as NotSupported<Hint>;
}

/** Not supported. */
export const embedding = unsupportedValue('embedding', embeddingHint);
/** Not supported. */
export const permutationBuilder = unsupportedValue('permutationBuilder', permutationHint);
/** Not supported. */
export const PermutationBuilder = unsupportedValue('PermutationBuilder', permutationHint);
/** Not supported. */
export const HeaderProvider = unsupportedValue('HeaderProvider', headerHint);
/** Not supported. */
export const StaticHeaderProvider = unsupportedValue('StaticHeaderProvider', headerHint);
/** Not supported. */
export const OAuthHeaderProvider = unsupportedValue('OAuthHeaderProvider', headerHint);
/** Not supported. */
export const blob = unsupportedValue('blob', blobHint);
/** Not supported. */
export const isBlobField = unsupportedValue('isBlobField', blobHint);
/** Not supported. */
export const instrumentLanceDbMetrics = unsupportedValue('instrumentLanceDbMetrics', metricsHint);
/** Not supported. */
export const tokenize = unsupportedValue('tokenize', tokenizeHint);
/** Not supported. */
export const Session = unsupportedValue('Session', sessionHint);
