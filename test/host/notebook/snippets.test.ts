import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { findNode } from '#processes/childProcess.ts';
import { KernelProcess } from '#processes/kernelProcess.ts';
import { repository, temporaryFolder } from '../support.ts';

type Snippet = { scope: string; prefix: string[]; body: string[] };

const file = readFileSync(join(repository, 'snippets/lance-catalog.code-snippets'), 'utf8');
const snippets = Object.entries(JSON.parse(file) as Record<string, Snippet>);
const inLanguage = (language: string): [string, Snippet][] =>
  snippets.filter(([, { scope }]) => scope.split(',').includes(language));

/** Returns the text with the default of every placeholder. */
function expand(body: readonly string[]): string {
  const defaults = new Map<string, string>();
  const text = body
    .join('\n')
    .replaceAll(/\$\{(\d+):([^}]*)\}/g, (_, id: string, value: string) => (defaults.set(id, value), value))
    .replaceAll(/\$\{(\d+)\|([^,|]*)[^}]*\}/g, (_, _id: string, first: string) => first);
  return text.replaceAll(/\$(\d+)/g, (_, id: string) => defaults.get(id) ?? '');
}

// The snippets run in the order of the file, because later ones read the table that an earlier one creates.
suite('every snippet', () => {
  const folder = temporaryFolder();
  let kernel: KernelProcess;

  suiteSetup(async () => {
    const root = join(folder.path, 'db');
    mkdirSync(root);
    kernel = await KernelProcess.start({
      entry: join(repository, 'dist/kernel.cjs'),
      node: await findNode(),
      cwd: folder.path,
      catalog: { implementation: 'dir', root },
    });
  });
  suiteTeardown(async () => {
    await kernel.shutdown();
    folder.remove();
  });

  for (const [name, { body }] of inLanguage('typescript')) {
    test(`runs as a TypeScript cell: ${name}`, async () => {
      const shown: string[] = [];
      const reply = await kernel.execute(expand(body), ({ type }) => shown.push(type));
      assert.equal(reply.status, 'ok', JSON.stringify(reply));
      // Each snippet ends with a value to show, because a query runs only when it is shown.
      assert.ok(shown.includes('execute_result'), shown.join());
    });
  }

  for (const [name, { body }] of inLanguage('python')) {
    test(`runs in Python with the upstream client: ${name}`, async () => {
      const python = join(repository, '.toolchain/python/bin/python');
      const cwd = join(folder.path, 'python');
      mkdirSync(cwd, { recursive: true });
      await promisify(execFile)(python, ['-c', expand(body)], { cwd, timeout: 60_000 });
    });
  }

  test('has a prefix, and a language that is known', () => {
    for (const [name, { scope, prefix }] of snippets) {
      assert.ok(prefix.length > 0, name);
      assert.match(scope, /^(typescript,javascript|python)$/, name);
    }
  });
});
