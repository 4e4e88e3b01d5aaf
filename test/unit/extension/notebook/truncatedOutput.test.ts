import assert from 'node:assert/strict';
import { TruncatedOutput } from '../../../../extension/notebook/truncatedOutput.ts';

function printed(limit: number, ...texts: string[]): TruncatedOutput {
  const text = new TruncatedOutput(limit);
  for (const each of texts) text.add(each);
  return text;
}
const lines = (count: number) => Array.from({ length: count }, (_, i) => `line ${i}\n`);

suite('What a cell has printed', () => {
  test('stays as it is up to the limit', () => {
    assert.equal(printed(20, 'x'.repeat(10), 'y'.repeat(10)).cut(), undefined);
  });

  test('keeps its beginning and its end beyond it, in whole lines, and counts the rest', () => {
    const all = lines(100_000);
    const cut = printed(2000, ...all).cut() ?? '';
    assert.match(cut, /^line 0\nline 1\n/);
    assert.match(cut, /\nline 99998\nline 99999\n$/);
    const [, left = ''] =
      /\n… ([\d,]+) characters of output are omitted from the notebook\. [^\n]* …\n/.exec(cut) ?? [];
    const kept = cut.replace(/\n… .*?…\n/, '\n');
    assert.equal(Number(left.replaceAll(',', '')) + kept.length, all.join('').length);
    assert.ok(kept.split('\n').every((line) => line === '' || /^line \d+$/.test(line)));
    assert.ok(kept.length <= 2000 && kept.length > 1900);
  });

  test('may come in one piece', () => {
    const cut = printed(2000, lines(100_000).join('')).cut() ?? '';
    assert.match(cut, /^line 0\n[^]* characters of output are omitted from the notebook\. [^]*line 99999\n$/);
  });

  test('may be one endless line', () => {
    const cut = printed(1000, 'x'.repeat(5000)).cut() ?? '';
    assert.match(cut, /^x{750}\n… 4,000 characters [^\n]*\nx{250}$/);
  });

  test('stays whole without a limit', () => {
    assert.equal(printed(0, ...lines(1000)).cut(), undefined);
  });
});
