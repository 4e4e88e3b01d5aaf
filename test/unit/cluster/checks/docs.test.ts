import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { checkIds } from '#cluster/checkIds.ts';
import { inRoot } from '../../../../scripts/paths.ts';

suite('The documentation of the checks', () => {
  const text = readFileSync(inRoot('docs/cluster-checks.md'), 'utf8');

  test('has one section for each check, in the order of a report, and none besides', () => {
    const sections = [...text.matchAll(/^## (.*)$/gm)].map(([, title]) => title);
    assert.deepEqual(sections, [...checkIds]);
  });

  test('says something in each', () => {
    for (const section of text.split(/^## /m).slice(1)) {
      const [title = '', ...lines] = section.split('\n');
      assert.ok(lines.join(' ').trim().length > 80, `The section ${title} says next to nothing.`);
    }
  });
});
