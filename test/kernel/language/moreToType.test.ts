import assert from 'node:assert/strict';
import { kernelOfSuite } from '../support.ts';

suite('A console that asks whether more is to be typed', function () {
  this.timeout(60_000);
  const kernel = kernelOfSuite();

  for (const [what, code, status] of [
    ['a template that goes on', 'const few = await sql`select id', 'incomplete'],
    ['a template within one', 'f(`${`b', 'incomplete'],
    ['a template that is closed', 'sql`select\n1`', 'complete'],
    ['a template, two blank lines on', '`a\n\n', 'invalid'],
    ['a text that is not closed', '"abc', 'invalid'],
    ['%%sql alone', '%%sql --to few', 'incomplete'],
    ['a line below %%sql', '%%sql\nselect 1', 'incomplete'],
    ['a blank line below that', '%%sql\nselect 1\n', 'complete'],
    ['an open brace below %%time', '%%time\nfor (const a of [1]) {', 'incomplete'],
    ['a magic of one line', '%time 1 + 1', 'complete'],
  ] as const)
    test(`is told so for ${what}: ${status}`, async () => {
      assert.equal((await kernel().isComplete(code)).status, status);
    });
});
