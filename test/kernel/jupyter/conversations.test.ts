import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { inRoot } from '../../../scripts/paths.ts';
import { python } from '../../harness/needs/python.ts';
import { command } from '../support.ts';
import { installedKernel } from './jupyterHome.ts';

/** The expected pages by title, from `conversations.txt`. UPDATE_CONVERSATIONS=1 writes them again. */
const golden = inRoot('test/kernel/jupyter/conversations.txt');
const pageStart = /^## (.*)\n/m;

function pagesOf(text: string): Map<string, string> {
  const [, ...parts] = text.split(pageStart);
  const pages = new Map<string, string>();
  for (let at = 0; at < parts.length; at += 2) pages.set(parts[at] ?? '', (parts[at + 1] ?? '').trim());
  return pages;
}

const textOf = (pages: ReadonlyMap<string, string>): string =>
  [...pages].map(([title, page]) => `## ${title}\n${page}\n`).join('\n');

suite('A conversation of a Jupyter client with the kernel', function () {
  this.timeout(120_000);
  const expected = pagesOf(readFileSync(golden, 'utf8'));
  let held: Map<string, string>;

  suiteSetup(async () => {
    const { env } = await installedKernel();
    const script = inRoot('test/kernel/python/conversations.py');
    const { code, stdout, stderr } = await command(python(), [script], { env, seconds: 100 });
    assert.equal(code, 0, stderr);
    held = new Map(Object.entries(JSON.parse(stdout) as Record<string, string>));
    if (process.env['UPDATE_CONVERSATIONS']) writeFileSync(golden, textOf(held));
  });

  for (const [title, page] of expected) test(title, () => assert.equal(held.get(title), page));

  test('is one of those that are expected', () => assert.deepEqual([...held.keys()], [...expected.keys()]));
});
