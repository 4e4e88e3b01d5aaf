import assert from 'node:assert/strict';
import { fileName } from '../../../../../webviews/grid/detail/fileName.ts';
import { hexLine } from '../../../../../webviews/grid/detail/hexView.ts';
import { textParts } from '../../../../../webviews/grid/detail/hiddenChars.ts';
import { splitText } from '../../../../../webviews/grid/detail/textBlocks.ts';
import { jsonNode, type TreeNode } from '../../../../../webviews/grid/detail/treeNodes.ts';
import { valueFile } from '../../../../../webviews/grid/detail/valueFile.ts';
import { plotPath, vectorStats } from '../../../../../webviews/grid/detail/vectorStats.ts';

const utf8 = (text: string): Uint8Array => new TextEncoder().encode(text);
const children = (node: TreeNode): TreeNode[] => Array.from({ length: node.size }, (_, at) => node.child(at));

suite('The views of the detail pane', () => {
  test('a tree of JSON keeps digits, equal names and the order', () => {
    const node = jsonNode(utf8('{"a": 12345678901234567890, "a": 2.50, "__proto__": {"b": [null, true]}, "": "x\\n"}'));
    assert.ok(node);
    assert.deepEqual(
      children(node).map(({ name, kind, text }) => [name, kind, text]),
      [
        ['a', 'number', '12345678901234567890'],
        ['a', 'number', '2.50'],
        ['__proto__', 'nested', '{"b": [null, true]}'],
        ['', 'text', '"x\\n"'],
      ],
    );
    assert.deepEqual(
      children(node.child(2).child(0)).map(({ name, text }) => [name, text]),
      [
        ['0', 'null'],
        ['1', 'true'],
      ],
    );
  });

  test('what is not an object or a list in JSON has no tree, however deep or long', () => {
    for (const text of [
      '1',
      '"a"',
      '{"a": 1',
      '[1,]',
      '{} x',
      '// a\n{}',
      'plain',
      '['.repeat(500_000),
      ' '.repeat(3_000_000) + '{}',
    ])
      assert.equal(jsonNode(utf8(text)), undefined, text.slice(0, 20));
  });

  test('bytes are lines of hexadecimal numbers and characters', () => {
    const bytes = Uint8Array.from({ length: 20 }, (_, at) => at + 60);
    assert.equal(hexLine(bytes, 0, 8), '00000000  3c 3d 3e 3f 40 41 42 43  <=>?@ABC');
    assert.equal(hexLine(bytes, 16, 8), '00000010  4c 4d 4e 4f              LMNO');
  });

  test('text is split after line breaks, and never within a character', () => {
    const text = `${'a'.repeat(8000)}\n${'😀'.repeat(9000)}end`;
    const { blocks, rest } = splitText(text);
    assert.equal(blocks.join('') + rest, text);
    assert.ok(blocks.length >= 2 && blocks.every((block) => block.length <= 8193));
    assert.ok(blocks[0]!.endsWith('\n'));
    assert.ok([...blocks, rest].every((block) => !/[\uD800-\uDBFF]$|^[\uDC00-\uDFFF]/.test(block)));
  });

  test('hidden characters are apart with their codes', () => {
    assert.deepEqual(textParts('a\tb\n\u202Egnp\u001B[0m😀'), [
      { text: 'a\tb\n' },
      { text: '\u202E', code: 'U+202E' },
      { text: 'gnp' },
      { text: '\u001B', code: 'U+001B' },
      { text: '[0m😀' },
    ]);
  });

  test('a vector has its norm and range, also with values that are large, missing or zero', () => {
    const stats = vectorStats(Float64Array.of(3, -4));
    assert.deepEqual([stats.norm, stats.min, stats.max, stats.mean], [5, -4, 3, -0.5]);
    assert.ok(Math.abs(vectorStats(Float64Array.of(3e200, 4e200)).norm / 5e200 - 1) < 1e-12);
    assert.ok(vectorStats(Float64Array.of(0, 0)).isZero);
    const gap = vectorStats(Float64Array.of(1, NaN, Infinity));
    assert.deepEqual([gap.notFinite, Number.isNaN(gap.norm), gap.max], [2, true, 1]);
  });

  test('the line of a long vector keeps every peak, and has a gap where values are missing', () => {
    const values = new Float64Array(100_000);
    values[54_321] = 1;
    assert.match(plotPath(values, { min: 0, max: 1 }), / 4\.0/);
    assert.equal(plotPath(Float64Array.of(0, NaN, 1), { min: 0, max: 1 }).match(/M/g)?.length, 2);
    assert.equal(plotPath(Float64Array.of(2, 2), { min: 2, max: 2 }).includes('NaN'), false);
  });

  test('a file is named so that every file system takes it', () => {
    assert.equal(fileName('picture-1', 'png'), 'picture-1.png');
    assert.equal(fileName('../../etc/passwd', 'txt'), 'etc-passwd.txt');
    assert.equal(fileName('a\u0000b:c|日本', 'txt'), 'a-b-c-日本.txt');
    assert.equal(fileName('...', 'bin'), 'value.bin');
    assert.equal(fileName('x'.repeat(500), 'bin').length, 64);
  });

  test('a file of bytes comes in parts that fill their buffers', () => {
    const bytes = new Uint8Array(2_000_000).subarray(10, 1_500_010);
    const file = valueFile({ kind: 'binary', bytes, mime: 'image/jpeg' });
    assert.deepEqual([file?.extension, file?.size], ['jpg', 1_500_000]);
    const parts = [...file!.parts()];
    assert.equal(
      parts.reduce((sum, part) => sum + part.length, 0),
      1_500_000,
    );
    assert.ok(parts.every((part) => part.buffer.byteLength === part.length && part.length <= 524_288));
    assert.equal(valueFile({ kind: 'null' }), undefined);
    assert.equal(valueFile({ kind: 'text', bytes: utf8('{"a": 1}') })?.extension, 'json');
  });
});
