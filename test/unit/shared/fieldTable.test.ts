import assert from 'node:assert/strict';
import { type FieldPath, type FieldProblem, type Fields, readFieldTable, toJsonSchema } from '#shared/fieldTable.ts';

const fields = {
  name: { kind: 'text', isNeeded: true, takes: 'a name', pattern: /^\w+$/, description: 'Name.' },
  mode: { kind: 'choice', values: ['fast', 'slow'], meanings: ['Fast.', 'Slow.'], description: 'Mode.' },
  isOpen: { kind: 'flag', default: true, description: 'Whether it is open.' },
  size: { kind: 'count', minimum: 1, description: 'Size.' },
  labels: { kind: 'map', description: 'Labels.' },
  parts: { kind: 'sections', description: 'Parts.', fields: { width: { kind: 'count', minimum: 0, description: '' } } },
} as const satisfies Fields;

function read(value: unknown) {
  const problems: [FieldPath, FieldProblem][] = [];
  const values = readFieldTable(value, fields, {
    toName: (name) => name.replaceAll('_', ''),
    report: (path, problem) => void problems.push([path, problem]),
  });
  return { values, problems };
}

suite('A table of fields', () => {
  test('reads valid values in any spelling, and null as a field that is not set', () => {
    const { values, problems } = read({
      n_ame: 'a',
      mode: 'fast',
      size: null,
      labels: { a: 'b' },
      parts: [{ width: 0 }],
    });
    assert.deepEqual(problems, []);
    assert.deepEqual(values, { name: 'a', mode: 'fast', labels: { a: 'b' }, parts: [{ width: 0 }] });
  });

  test('reports every problem with its path, in the order of the file', () => {
    const { problems } = read({
      mode: 'odd',
      parts: [{}, { width: -1 }],
      sise: 1,
      size: 1,
      s_ize: 2,
      labels: { a: 1 },
    });
    assert.deepEqual(problems, [
      [['mode'], { kind: 'value', expected: '"fast" or "slow"', value: 'odd' }],
      [['parts', 1, 'width'], { kind: 'value', expected: 'a whole number, 0 or more', value: -1 }],
      [['sise'], { kind: 'unknown', name: 'sise', known: Object.keys(fields), meant: 'size' }],
      [['s_ize'], { kind: 'duplicate', other: 'size' }],
      [['labels', 'a'], { kind: 'value', expected: 'a string in quotes', value: 1 }],
      [[], { kind: 'missing', name: 'name', description: 'Name.' }],
    ]);
  });

  test('accepts no name that every object inherits', () => {
    const [first] = read({ name: 'a', toString: 'b' }).problems;
    assert.equal(first?.[1].kind, 'unknown');
  });

  test('becomes a JSON Schema with the same limits, whose other spellings are not suggested', () => {
    const schema = toJsonSchema(fields, (name) => (name === 'size' ? ['si_ze'] : []));
    const size = { type: 'integer', minimum: 1, markdownDescription: 'Size.' };
    assert.deepEqual(schema, {
      type: 'object',
      additionalProperties: false,
      required: ['name'],
      properties: {
        name: {
          type: 'string',
          pattern: '^\\w+$',
          patternErrorMessage: 'Must be a name.',
          markdownDescription: 'Name.',
        },
        mode: { enum: ['fast', 'slow'], enumDescriptions: ['Fast.', 'Slow.'], markdownDescription: 'Mode.' },
        isOpen: { type: 'boolean', default: true, markdownDescription: 'Whether it is open.' },
        size,
        labels: { type: 'object', additionalProperties: { type: 'string' }, markdownDescription: 'Labels.' },
        parts: {
          type: 'array',
          items: {
            type: 'object',
            additionalProperties: false,
            properties: { width: { type: 'integer', minimum: 0, markdownDescription: '' } },
          },
          markdownDescription: 'Parts.',
        },
        si_ze: { ...size, doNotSuggest: true },
      },
    });
  });
});
