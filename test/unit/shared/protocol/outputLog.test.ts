import assert from 'node:assert/strict';
import type { KernelMessage } from '#shared/protocol/kernelMessages.ts';
import { OutputLog } from '#shared/protocol/outputLog.ts';

const printed = (text: string): KernelMessage => ({ type: 'stream', parent: 'p', content: { name: 'stdout', text } });
const textsOf = (log: OutputLog): string[] =>
  log.messages('p').map((message) => (message.type === 'stream' ? message.content.text : message.type));

/** Returns lines of ten characters. */
const lines = (from: number, count: number): string =>
  Array.from({ length: count }, (_, index) => `${String(from + index).padStart(9, '0')}\n`).join('');

suite('What is kept of a run', () => {
  test('is all of it up to a million characters', () => {
    const log = new OutputLog();
    log.add(printed(lines(0, 50_000)));
    log.add(printed(lines(50_000, 50_000)));
    assert.equal(textsOf(log).join(''), lines(0, 100_000));
  });

  for (const [what, size] of [
    ['small pieces', 100],
    ['pieces that are larger than the end that is kept', 30_000],
  ] as const)
    test(`is its start and its end, whole lines with a note between them, of ${what}`, () => {
      const log = new OutputLog();
      for (let from = 0; from < 300_000; from += size) log.add(printed(lines(from, size)));
      log.add(printed('last\n'));
      const texts = textsOf(log);
      const note = texts.findIndex((text) => text.includes('were shown here'));
      const [start, end] = [texts.slice(0, note).join(''), texts.slice(note + 1).join('')];
      assert.ok(start.startsWith(lines(0, 3)) && start.endsWith('\n'));
      assert.ok(end.endsWith('000299998\n000299999\nlast\n'));
      assert.match(end, /^\d{9}\n/);
      assert.ok(end.length <= 200_000 && end.length > 190_000, `${end.length} characters`);
      const lost = 3_000_000 + 'last\n'.length - start.length - end.length;
      assert.equal(texts[note], `\n… ${lost} characters were shown here, and are not kept …\n`);
    });

  test('is the end of one line that is longer than that', () => {
    const log = new OutputLog();
    log.add(printed(`${'a'.repeat(2_000_000)}b`));
    const [note = '', end = ''] = textsOf(log);
    assert.match(note, /… 1800001 characters/);
    assert.equal(end, `${'a'.repeat(199_999)}b`);
  });

  test('is nothing of what was cleared', () => {
    const log = new OutputLog();
    log.add(printed('a'.repeat(2_000_000)));
    log.add({ type: 'clear_output', parent: 'p', content: { wait: false } });
    log.add(printed('new'));
    assert.deepEqual(textsOf(log), ['clear_output', 'new']);
  });
});
