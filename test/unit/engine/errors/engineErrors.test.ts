import assert from 'node:assert/strict';
import { engineError, namespaceSubject, tableSubject } from '#engine/errors/engineErrors.ts';
import { CatalogError, type CatalogErrorKind, isCatalogError } from '#shared/errors.ts';

const built = '/usr/local/cargo/registry/src/index.crates.io-1949cf8c6b5b557f/lance-12.0.0/src/dataset.rs:763:26';

// Messages of the engine.
const texts: readonly [CatalogErrorKind, string, string][] = [
  [
    'NamespaceNotFound',
    `lance error: Namespace error: Namespace not found: parent namespace 'a$b', ${built}\n  Caused by: x`,
    '"a/b"',
  ],
  ['NamespaceNotEmpty', `Namespace error: Namespace not empty: 'shop' (contains 3 child objects), ${built}`, 'cascade'],
  [
    'TableNotFound',
    `Table 't' was not found\n  Caused by: Namespace error: Table not found: table id 'shop$t'`,
    '"shop/t"',
  ],
  ['TableAlreadyExists', `Table 't' already exists`, 'overwrite'],
  ['InvalidTableState', `lance error: LanceError(IO): file size is too small, ${built}`, 'broken'],
  [
    'InvalidTableState',
    `Table 't' was not found\n  Caused by: Dataset at path tmp/x was not found: Not found: tmp/x/_versions`,
    'it has no data',
  ],
  [
    'VersionNotFound',
    `lance error: Dataset at path tmp/x/_versions/99.manifest was not found: Not found: x`,
    'version 7',
  ],
  ['TableNotFound', `lance error: Not found: tmp/x/t.lance/_versions, ${built}\n  Caused by: x`, 'no longer exists'],
  ['Internal', `lance error: LanceError(IO): No space left on device (os error 28), ${built}`, 'Free up disk space'],
  ['VersionNotFound', 'lance error: Version not found error: version main:99 does not exist', 'version 7'],
  ['TagNotFound', 'lance error: Ref not found error: tag gold does not exist  Caused by: x', '"gold"'],
  ['TagAlreadyExists', 'lance error: Ref conflict error: tag gold already exists  Caused by: x', '"gold"'],
  [
    'InvalidInput',
    `lance error: Ref conflict error: Branch dev is referenced by [("dev2", 7)] versions, can not delete  Caused by: Ref conflict error: Branch dev is referenced by [("dev2", 7)] versions`,
    'other branches start from it: "dev2".',
  ],
  ['InvalidInput', 'lance error: LanceError(Schema): Duplicate field name "id" in schema:\n Schema {', '"id" already'],
  ['InvalidInput', 'Invalid input, num_sub_vectors must divide vector dimension 8, but got 3', 'a divisor of 8'],
  [
    'InvalidInput',
    `lance error: Not supported: Creating empty vector indices with train=False is not yet implemented. Index 'v_idx' for column 'v' cannot be created without training., ${built}`,
    'Add rows first',
  ],
  [
    'InvalidInput',
    'Failed to execute merge insert: GenericFailure, Invalid input, Ambiguous merge inserts are prohibited: multiple source rows match the same target row on (id = 9). Please ensure each target row is matched by at most one source row.',
    'Keep only one of them',
  ],
  ['InvalidInput', 'Invalid input, The filter id + Int64(1) does not return a boolean', 'not a condition'],
  [
    'InvalidInput',
    `Invalid input, LanceError(Arrow): Cast error: Cannot cast string 'abc' to value of Int64 type, ${built}`,
    'try_cast',
  ],
  [
    'InvalidInput',
    `lance error: LanceError(Arrow): Cast error: Can't cast value 300 to type Int8, ${built}  Caused by: x`,
    'try_cast',
  ],
  [
    'ConcurrentModification',
    `Failed to execute merge insert: GenericFailure, lance error: Incompatible transaction: This Update transaction is incompatible with concurrent transaction Overwrite at version 53, ${built}`,
    'Try again',
  ],
  ['BranchNotFound', 'lance error: Ref not found error: Branch trial does not exist', '"trial"'],
  [
    'IndexAlreadyExists',
    `lance error: LanceError(Index): Index name 'id_idx' already exists, please specify a different name, ${built}`,
    '"id_idx"',
  ],
  ['IndexNotFound', `lance error: Lance index not found: name=id_idx, ${built}  Caused by: x`, '"id_idx"'],
  [
    'IndexNotFound',
    'Failed to execute query stream: GenericFailure, Invalid input, Cannot perform full text search unless an INVERTED index has been created',
    'FTS',
  ],
  ['ColumnNotFound', 'Schema Error: Field path `zz` not found in schema. Available field paths: id', '"zz"'],
  ['ColumnNotFound', 'Invalid input, Column "zz" does not exist in the dataset', '"zz"'],
  ['ColumnNotFound', 'Failed to execute query stream: GenericFailure, Invalid input, Column zz not found', '"zz"'],
  ['InvalidInput', 'Invalid input, Column price already exists in the dataset', '"price"'],
  ['InvalidInput', 'Invalid input, Cannot drop all columns from a dataset', 'no column left'],
  [
    'ConcurrentModification',
    `lance error: Retryable commit conflict for version 9: This Merge transaction was preempted by concurrent x, ${built}`,
    'Try again',
  ],
  [
    'ConcurrentModification',
    `Failed to execute merge insert: GenericFailure, lance error: Encountered internal error. Dataset version 4 does not have a transaction file., ${built}`,
    'Try again',
  ],
  [
    'ColumnNotFound',
    'Invalid input, Schema error: No field named zz. Valid fields are id, v, _rowid, _rowaddr.',
    'It has: id, v.',
  ],
  [
    'ColumnNotFound',
    'Invalid input, Schema error: No field named nam. Valid fields are id, name.',
    'It has: id, name. Did you mean "name"?',
  ],
  [
    'InvalidInput',
    'Invalid input, Error parsing statement: SELECT 1 FROM t WHERE id > (sql parser error: Expected)',
    'id >',
  ],
  [
    'Unsupported',
    `Runtime error: Failed to rename table: Not supported: rename_table not implemented, ${built}`,
    'rename',
  ],
  [
    'ColumnNotFound',
    `lance error: LanceError(Index): column corrupt does not exist in schema Field(id=0, name=id), ${built}`,
    '"corrupt"',
  ],
  ['Unsupported', 'Invalid input, Operator ~ is not supported', 'Operator ~'],
  ['ConcurrentModification', `lance error: Retryable commit conflict for version 3: preempted, ${built}`, 'Try again'],
  ['ConcurrentModification', `lance error: Too many concurrent writers. Failed, ${built}`, 'Try again'],
  [
    'PermissionDenied',
    `lance error: LanceError(IO): Generic LocalFileSystem error: Unable to open file /x: Permission denied (os error 13)`,
    'rights',
  ],
  [
    'InvalidTableState',
    'Failed to get next batch from stream: Invalid input, file does not appear to be a Lance file (invalid magic: [76])',
    'broken',
  ],
  ['InvalidTableState', `lance error: Encountered corrupt file tmp/x/1.manifest: cut off, ${built}`, 'broken'],
  [
    'InvalidTableState',
    'Invalid input, Failed to connect to namespace: IO { source: "file size is too small", location: x }',
    '"__manifest"',
  ],
  [
    'ColumnNotFound',
    'Failed to execute merge insert: GenericFailure, Invalid input, Schema error: No field named target."no pe". Valid fields are target.id, source.id, source.__merge_source_sentinel.',
    'no column "no pe"',
  ],
  [
    'InvalidInput',
    'Failed to execute merge insert: GenericFailure, Invalid input, Schema error: Ambiguous reference to unqualified field v',
    'Write target.v for the row of the table',
  ],
  [
    'InvalidInput',
    `Failed to execute merge insert: GenericFailure, Invalid input, Failed to parse UpdateIf condition: Invalid user input: Error parsing statement: SELECT 1 FROM t WHERE target.v = (sql parser error: Expected: an expression, found: EOF), ${built}`,
    'Write SQL',
  ],
  [
    'InvalidInput',
    `Invalid input, Invalid user input: Expression 'CASE WHEN id > 1 THEN 'x' END' is not supported SQL in lance, ${built}`,
    'for each case',
  ],
  [
    'Unsupported',
    `lance error: Not supported: Nested column references are not yet supported. Referenced: meta.n, ${built}`,
    "named_struct('n', …)",
  ],
  ['Internal', `lance error: something nobody has seen, ${built}`, 'something nobody has seen.'],
];

/** What the engine writes if it can't create the client of an object store. */
const notCreated = (problem: string): string =>
  `Invalid input, Failed to connect to namespace: Namespace { source: Internal { message: "Failed to create object store: ${problem.replaceAll('"', String.raw`\"`)}, location: Location { file: \\"${built}\\", line: 320, column: 13 }, backtrace: MaybeBacktrace }" }, location: Location { file: "${built}", line: 852, column: 17 }, backtrace: MaybeBacktrace }`;

const storeHint = 'Check the bucket, region, endpoint and storageOptions.';

/** Problems of object stores, with the kind and the message of their errors. */
const storeProblems: readonly [string, CatalogErrorKind, string][] = [
  [
    'IO { source: Generic { store: "S3", source: ResolveRegion { bucket: "nope", source: reqwest::Error { kind: Request, url: "https://nope.s3.amazonaws.com/", source: hyper_util::client::legacy::Error(Connect, ConnectError("dns error", Custom { kind: Uncategorized, error: "failed to lookup address information: Name or service not known" })) } } }',
    'ServiceUnavailable',
    `Can't reach the bucket "nope" of S3: failed to lookup address information: Name or service not known. ${storeHint}`,
  ],
  [
    'IO { source: Generic { store: "GCS", source: Credential { source: OpenCredentials { source: Os { code: 2, kind: NotFound, message: "No such file or directory" }, path: "/nope.json" } } }',
    'InvalidInput',
    `Can't reach Google Cloud Storage: the service account can't be read (No such file or directory). ${storeHint}`,
  ],
  [
    'IO { source: Generic { store: "GCS", source: Credential { source: DecodeCredentials { source: Error("invalid type: string \\"sesame\\", expected struct", line: 1, column: 8) } } }',
    'InvalidInput',
    `Can't reach Google Cloud Storage: the service account can't be read (it is not a key in JSON). ${storeHint}`,
  ],
  [
    'IO { source: Generic { store: "MicrosoftAzure", source: InvalidAccessKey { source: InvalidByte(0, 37) } }',
    'InvalidInput',
    `Can't reach Azure: invalid access key. ${storeHint}`,
  ],
  [
    'InvalidInput { source: "Unable to find object store prefix: no Azure account name in URI, and no storage account configured."',
    'InvalidInput',
    `Can't reach the object store: no Azure account name in URI, and no storage account configured. ${storeHint}`,
  ],
];

suite('errors of the engine', () => {
  test('of an object store are one sentence with the innermost reason and no secret', () => {
    for (const [problem, kind, message] of storeProblems) {
      const error = engineError(new Error(notCreated(problem)), namespaceSubject([]));
      assert.ok(isCatalogError(error, kind), String(error));
      assert.equal(error.message, message);
    }
    const refused =
      'Invalid input, IO { source: Generic { store: "S3", source: ListRequest { inner: Http(HttpError { kind: Connect, message: "Connection refused" }) } } }';
    const error = engineError(new Error(refused), namespaceSubject([]));
    assert.equal(error.message, `The object store can't be reached: Connection refused. ${storeHint}`);
  });

  const subject = tableSubject('t', ['shop'], 7);

  test('get the code of the specification by their text', () => {
    for (const [kind, text, word] of texts) {
      const error = engineError(new Error(text), subject);
      assert.ok(isCatalogError(error), text);
      assert.equal(error.kind, kind, text);
      assert.ok(error.message.includes(word), `${error.message} does not say ${word}`);
    }
  });

  test('do not show where the engine was built, and keep the whole text as their cause', () => {
    for (const [, text] of texts) {
      const error = engineError(new Error(text), subject);
      assert.doesNotMatch(error.message, /cargo|\.rs|Caused by|lance error/);
      assert.equal((error.cause as Error).message, text);
    }
  });

  test('do not take the words of a filter for those of the engine', () => {
    const words = [
      'magic',
      'corrupt',
      'prost',
      'concurrent',
      'Commit conflict',
      'Not supported',
      'Unsupported',
      'Permission denied (os error 13)',
      'file size is too small',
      'failed to decode Protobuf message',
      'Namespace not found',
      "Table 't' was not found",
      'No field named zz. Valid fields are x.',
      '__manifest/data',
      'version 3 not found',
    ];
    const quoted: ((word: string) => string)[] = [
      (word) => `Invalid input, Error parsing statement: SELECT 1 FROM t WHERE a = = '${word}' (sql parser error: x)`,
      (word) => `Invalid input, Error parsing function: Error during planning: Invalid function '${word}'.\nDid you?`,
      (word) => `Invalid input, Error resolving filter expression id = '${word}': Invalid user input: x, ${built}`,
      (word) => `Invalid input, The filter Utf8("${word}") does not return a boolean`,
      (word) => `Invalid input, Invalid escape character in LIKE expression. Expected one, got '${word}'`,
    ];
    for (const word of words) {
      for (const quote of quoted) {
        const error = engineError(new Error(quote(word)), subject);
        assert.ok(isCatalogError(error, 'InvalidInput'), `${quote(word)} => ${String(error)}`);
      }
      const error = engineError(new Error(`Invalid input, Expression '(SELECT '${word}')' is not supported`), subject);
      assert.ok(isCatalogError(error, 'Unsupported'), String(error));
    }
  });

  test('name a namespace where one was asked for', () => {
    const error = engineError(new Error('Namespace not found: shop$eu'), namespaceSubject(['shop', 'eu']));
    assert.ok(error.message.startsWith('Namespace "shop/eu" does not exist.'), error.message);
  });

  test('of ours and cancellations pass as they are', () => {
    const own = new CatalogError('Unsupported', 'x', '');
    assert.equal(engineError(own, subject), own);
    const abort = new DOMException('x', 'AbortError');
    assert.equal(engineError(abort, subject), abort);
  });
});
