import assert from 'node:assert/strict';
import type { ComputedColumn } from '#shared/jobs/computedFunction.ts';
import type { Connection } from '../../../../../extension/explorer/node.ts';
import {
  columnChoices,
  exampleOf,
  filledText,
  nameProblem,
  nameWarning,
} from '../../../../../extension/jobs/backfill/columnChoices.ts';
import { pythonFunctions, typescriptFunctions } from '../../../../../extension/jobs/backfill/functionNames.ts';
import { functionText } from '../../../../../extension/jobs/backfill/functionText.ts';
import { runnerChoices } from '../../../../../extension/jobs/backfill/runnerChoices.ts';
import { rayAddressProblem } from '../../../../../extension/jobs/connectToRay.ts';
import { endText } from '../../../../../extension/jobs/jobEnds.ts';
import { tableOfFile } from '../../../../../extension/jobs/jobFile/request.ts';
import { readJobText } from '../../../../../extension/jobs/jobFile/text.ts';
import { endedJob, someJob } from '../someJob.ts';
import { somePlan } from '../somePlan.ts';

const computed: ComputedColumn = {
  column: 'note_length',
  type: 'int32',
  function: somePlan().function,
  keptBy: 'table',
  author: 'ada@example.com',
  registeredAt: '2026-05-04T12:00:00Z',
  rows: 1000,
  filled: 820,
  valuesHash: undefined,
  isStale: true,
};
const columns = [
  { name: 'note', type: 'utf8', nullable: true },
  { name: 'note_length', type: 'int32', nullable: true },
];

const column = (name: string, type: string) => ({ name, type, nullable: true });

suite('the steps of "Backfill Column…"', () => {
  test('list a new column first, which Enter chooses, then those with a function, then the others', () => {
    assert.deepEqual(
      columnChoices(columns, [computed]).map(({ label }) => label),
      ['New Column…', 'note_length', 'note'],
    );
  });

  test('say how much of a column is filled, and that its function is newer', () => {
    assert.equal(filledText(computed), '820 of 1,000 rows filled · its function is newer than its values');
    assert.equal(filledText({ ...computed, filled: 1000, isStale: false }), 'all 1,000 rows filled');
  });

  test('say of a column that is done how many rows have no value, unless rows were added since', () => {
    const { hash } = computed.function;
    const done = { ...computed, isStale: false, valuesHash: hash, complete: { rows: 1000, empty: 180 } };
    assert.equal(filledText(done), 'done · 180 rows have no value');
    assert.equal(filledText({ ...done, filled: 999, complete: { rows: 1000, empty: 1 } }), 'done · 1 row has no value');
    assert.equal(filledText({ ...done, rows: 1010 }), '820 of 1,010 rows filled', 'rows were added');
    assert.equal(filledText({ ...done, filled: 810 }), '810 of 1,000 rows filled', 'values were removed');
    assert.match(filledText({ ...done, valuesHash: 'ab', isStale: true }), /^820 of 1,000 rows filled · its function/);
  });

  test('say of a column that the engine fills itself that it does', () => {
    const [, first] = columnChoices(columns, [{ ...computed, keptBy: 'engine' }]);
    assert.match(first?.description ?? '', /computed by the engine$/);
  });

  for (const [name, problem] of [
    ['', /needs a name/],
    [' x', /must not start or end with a space/],
    ['note', /column "note" already exists/],
    ['a.b', /not contain a dot\. For example: a_b$/],
    ['a`b', /not contain a backtick\. For example: a_b$/],
    ['total eur', undefined],
    ['caption_length', undefined],
  ] as const)
    test(`${problem ? 'refuse' : 'take'} "${name}" as the name of a new column`, () => {
      const found = nameProblem(name, columns);
      if (problem) assert.match(found ?? '', problem);
      else assert.equal(found, undefined);
    });

  for (const [name, warning] of [
    ['total_eur', undefined],
    ['total eur', /`total eur`\. A name without them: total_eur$/],
    ['größe', /`größe`\. A name without them: gr_e$/],
    ['2024', /^In SQL, this name needs backticks: `2024`\.$/],
  ] as const)
    test(`${warning ? 'warn of' : 'accept'} "${name}" as a name in SQL`, () => {
      const found = nameWarning(name);
      if (warning) assert.match(found ?? '', warning);
      else assert.equal(found, undefined);
    });

  test('give examples over columns that the table has', () => {
    assert.deepEqual(exampleOf(columns), { name: 'note_length', expression: 'length(note)' });
    const prices = [column('id', 'int64'), column('unit price', 'double')];
    assert.deepEqual(exampleOf(prices), { name: 'unit_price_doubled', expression: '`unit price` * 2' });
    assert.deepEqual(exampleOf([column('id', 'int64')]), { name: 'id_doubled', expression: 'id * 2' });
    assert.deepEqual(exampleOf([column('tags', 'list<utf8>')]), { name: 'has_tags', expression: 'tags IS NOT NULL' });
    assert.deepEqual(exampleOf([]), { name: 'one', expression: '1' });
  });

  test('offer what was picked with its reason, every Ray that is known, and at the end what can not run it', () => {
    const choices = runnerChoices(somePlan(), { addresses: ['http://127.0.0.1:8265'], profiles: ['prod'] });
    assert.deepEqual(
      choices.map(({ label, description }) => [label, description].filter(Boolean).join(': ')),
      [
        'This machine: recommended',
        'Ray at http://127.0.0.1:8265',
        'Ray in the cluster "prod"',
        'Connect to Ray…',
        'Set Up Python for Backfills…',
        'This machine, with Python: not available',
        'The catalog’s server: not available',
      ],
    );
    assert.equal(choices[5]?.detail, 'No Python with pylance was found.');
  });

  for (const [address, problem] of [
    ['http://127.0.0.1:8265', undefined],
    ['https://ray.example.com/team/', undefined],
    ['ray://127.0.0.1:10001', /Expected the address of a dashboard/],
    ['127.0.0.1:8265', /such as http/],
    ['http://me:secret@ray.example.com', /Remove the user name and password/],
    ['http://ray.example.com/?token=x', /everything after the path/],
  ] as const)
    test(`${problem ? 'refuse' : 'take'} ${address} as the address of a Ray`, () => {
      const found = rayAddressProblem(address);
      if (problem) assert.match(found ?? '', problem);
      else assert.equal(found, undefined);
    });
});

suite('functions in files', () => {
  test('are found in TypeScript by how they are exported', () => {
    const text = `import { udf } from 'lance-catalog';
export const first = udf({ name: 'first' }, (row) => 1);
const hidden = udf({ name: 'hidden' }, (row) => 1);
export const second: unknown = udf({}, () => 2);
export default first;`;
    assert.deepEqual(typescriptFunctions(text), ['default', 'first', 'second']);
  });

  test('are found in Python at the outermost level, with the parameters that have to be given', () => {
    const text = `import re

def words(text: str, language="en") -> int:
    def inner(x):
        return x
    return len(text.split())

def batch_length(batch):
    return batch

class Embedder:
    def __init__(self):
        self.model = None

    def __call__(self, text, image):
        return [0.0]

class Helper:
    pass
`;
    assert.deepEqual(pythonFunctions(text), [
      { name: 'words', parameters: ['text'] },
      { name: 'batch_length', parameters: ['batch'] },
      { name: 'Embedder', parameters: ['text', 'image'] },
    ]);
  });
});

suite('a stored function, before it runs', () => {
  test('is shown with its author, its hash and what it reads', () => {
    const text = functionText(computed, 'shop/orders');
    assert.match(text, /^-- Function "note_length" of the column "note_length" \(int32\) of shop\/orders$/m);
    assert.match(text, /^-- Stored by "ada@example\.com"/m);
    assert.match(text, new RegExp(`^-- Hash ${'ab'.repeat(32)}$`, 'm'));
    assert.match(text, /^length\(note\)$/m);
  });

  test('can say nothing outside of its comment by an author of several lines', () => {
    const text = functionText({ ...computed, author: 'ada"\nDROP TABLE x; \u2028 --' }, 'shop/orders');
    const [head = ''] = text.split('\n\n');
    assert.ok(head.split(/[\n\u2028]/).every((line) => line.startsWith('-- ')));
  });

  test('is shown whole, in lines that a reader sees to their end, with what hides in it', () => {
    const code = `${'a line\n'.repeat(3000)}${' '.repeat(15_000)}harm() /* \u202e */`;
    const made = { ...computed.function, kind: 'python', takes: 'row', code, entry: 'f' } as const;
    const text = functionText({ ...computed, function: made }, 't');
    assert.ok(text.replaceAll(' ↩\n', '').endsWith(`${' '.repeat(15_000)}harm() /* \\u{202e} */\n`));
    assert.ok(text.split('\n').every(({ length }) => length <= 210));
  });

  test('is shown as the code that runs, not as the source that it is said to be made of', () => {
    const made = { ...computed.function, kind: 'typescript', takes: 'row', code: 'evil()', source: 'good()' } as const;
    const text = functionText({ ...computed, function: made }, 't');
    assert.match(text, /evil\(\)/);
    assert.doesNotMatch(text, /good\(\)/);
  });
});

const fileOf = (fields: object) => {
  const { file } = readJobText(JSON.stringify({ table: 'shop/orders', column: 'c', ...fields }));
  assert.ok(file);
  return file;
};
const place = (connection: string) => ({
  kind: 'connected',
  place: { connection, path: ['shop'], table: 'orders' },
});

suite('the table of a job file', () => {
  const sample: Connection = { name: 'sample', kind: 'dir', root: '/data/sample', source: 'person' };
  const company: Connection = { name: 'company', kind: 'rest', uri: 'https://c.example.com', source: 'person' };
  const parts = (connections: Connection[] = [sample, company]) => ({
    connections: { list: () => connections },
  });
  test('is in the connection that it names', () => {
    assert.deepEqual(tableOfFile(parts(), fileOf({ connection: 'company' }), '/w'), place('company'));
  });

  test('is in the connection of its directory, seen from the folder of the file', () => {
    assert.deepEqual(tableOfFile(parts(), fileOf({ catalog: '../data/sample' }), '/jobs'), place('sample'));
  });

  test('is in the connection of its server, which has the key', () => {
    assert.deepEqual(tableOfFile(parts(), fileOf({ catalog: 'https://c.example.com/' }), '/w'), place('company'));
  });

  test('is reached without a connection where there is none to its directory', () => {
    const found = tableOfFile(parts(), fileOf({ catalog: './here' }), '/w');
    assert.deepEqual(found.kind === 'bare' && found.reference.catalog, { implementation: 'dir', root: '/w/here' });
  });

  test('is in the only connection where the file names none, and is not guessed among several', () => {
    assert.deepEqual(tableOfFile(parts([sample]), fileOf({}), '/w'), place('sample'));
    assert.throws(() => tableOfFile(parts(), fileOf({}), '/w'), /sets no catalog\. Add "connection" or "catalog"/);
  });

  test('is not looked for in a connection that is not there', () => {
    assert.throws(
      () => tableOfFile(parts(), fileOf({ connection: 'prod' }), '/w'),
      /There is no connection "prod"\. Existing connections: "sample", "company"\./,
    );
  });
});

suite('the end of a job', () => {
  test('is reported with its column and its table', () => {
    assert.equal(endText(endedJob()), 'The backfill of "note_length" of shop/eu/orders is done.');
  });

  test('is reported with the failed rows, the reason of the failure, or that it can be resumed', () => {
    assert.match(endText(endedJob({ errors: { count: 3, samples: [] } })), /is done; 3 rows failed\.$/);
    const failure = { code: 'StorageFull', message: 'The disk is full.', hint: '' };
    assert.match(endText(someJob({ state: 'failed', failure })), / failed\. The disk is full\.$/);
    assert.match(
      endText(someJob({ state: 'interrupted' })),
      /was interrupted\. Resume it to continue where it stopped\.$/,
    );
  });
});
