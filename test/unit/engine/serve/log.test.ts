import assert from 'node:assert/strict';
import { jsonLog } from '#engine/serve/log.ts';

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
});
