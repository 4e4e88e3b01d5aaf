import assert from 'node:assert/strict';
import { setTimeout } from 'node:timers/promises';
import { joinLines, jsonLog } from '#engine/serve/log.ts';

suite('the log of a server', () => {
  test('is a line of JSON for each event', () => {
    const lines: string[] = [];
    jsonLog((line) => lines.push(line), [])('info', 'request', { status: 200, what: 'a\nb', none: undefined });
    const { time, ...rest } = JSON.parse(lines[0]!) as { time: string };
    assert.ok(Math.abs(Date.now() - Date.parse(time)) < 10_000);
    assert.deepEqual(rest, { level: 'info', event: 'request', status: 200, what: 'a\nb' });
    assert.ok(!lines[0]!.includes('\n'));
  });

  test('hides secrets wherever they stand, also those that JSON writes in another way', () => {
    const lines: string[] = [];
    const log = jsonLog((line) => lines.push(line), ['se"cr\\et', 'another1']);
    log('error', 'failure', { problem: 'key se"cr\\et refused', nested: { list: ['another1 another1'] } });
    assert.doesNotMatch(lines[0]!, /cr\\|another1/);
    assert.match(lines[0]!, /key \*\*\* refused.*\*\*\* \*\*\*/);
  });

  test('is written with the lines of a moment together, in their order, and to the end when the process exits', async () => {
    const texts: string[] = [];
    const exits = process.listeners('exit');
    const write = joinLines((text) => texts.push(text));
    const [atExit] = process.listeners('exit').filter((each) => !exits.includes(each));
    write('one');
    write('two');
    assert.deepEqual(texts, []);
    await setTimeout(50);
    assert.deepEqual(texts, ['one\ntwo\n']);
    write('three');
    atExit?.(0);
    assert.deepEqual(texts.splice(1), ['three\n']);
    await setTimeout(50);
    assert.equal(texts.length, 1);
    if (atExit) process.off('exit', atExit);
  });
});
