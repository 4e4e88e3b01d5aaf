import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import * as vscode from 'vscode';
import { formOf, type MagicForm, magicNames } from '#session/magics/magicNames.ts';
import { repository } from '../support.ts';
import { type Colouring, type Token, typescriptColouring } from './grammars.ts';

const isOurs = (scope: string): boolean => scope.startsWith('lance-catalog.');

/** Returns the scopes of the first token with this text, ignoring spaces. */
function scopesOf(lines: readonly Token[][], text: string): string {
  const token = lines.flat().find(([each]) => each.trim() === text);
  assert.ok(token, `no token ${text} in ${JSON.stringify(lines)}`);
  return token[1];
}

suite('what a cell says besides TypeScript', function () {
  this.timeout(120_000);
  let colours: Colouring;
  let plain: Colouring;

  suiteSetup(async () => {
    colours = await typescriptColouring(() => true);
    plain = await typescriptColouring((scope) => !isOurs(scope));
  });

  const isMagic = (text: string, magic: string): boolean =>
    colours(text)
      .flat()
      .some(([each, scopes]) => each === magic && scopes === 'keyword.control.magic.ts');

  test('has the colour of a magic where the kernel has that magic', () => {
    const forms: [string, MagicForm][] = magicNames.map((name) => [name, formOf(name)]);
    for (const [name, { line, cell }] of [...forms, ['others', { help: '' }] as const]) {
      assert.equal(isMagic(`const a = 1;\n%${name}`, `%${name}`), line !== undefined, `%${name}`);
      assert.equal(isMagic(`%%${name}`, `%%${name}`), cell !== undefined, `%%${name}`);
      assert.equal(isMagic(`\n  \n %%${name}\nx`, `%%${name}`), cell !== undefined, `%%${name} below blank lines`);
      assert.equal(isMagic(`// Notes\n%%${name}`, `%%${name}`), false, `%%${name} below a comment`);
      assert.equal(isMagic(`%${name}s`, `%${name}`), false, `%${name}s`);
    }
    assert.ok(isMagic('?db.openTable', '?') && isMagic('\n?? db', '??'));
  });

  for (const head of ['%%sql', '\n%%sql --to top'])
    test(`is SQL to the end under ${JSON.stringify(head)}, but for values of the notebook`, () => {
      const lines = colours(`${head}\nselect name, 'it' as x from t -- a \` here\n\nwhere n > \${limit} order by n`);
      for (const word of ['select', 'from', 'where', 'order by'])
        assert.match(scopesOf(lines, word), /^meta\.embedded\.block\.sql keyword\.other/, word);
      assert.match(scopesOf(lines, 'it'), /string\.quoted\.single\.sql$/);
      assert.match(scopesOf(lines, 'a ` here'), /comment\.line\.double-dash\.sql$/);
      assert.match(scopesOf(lines, 'limit'), /meta\.template\.expression\.ts .*variable\.other\.readwrite\.ts$/);
    });

  test('is commands of a shell under %%sh and behind %sh', () => {
    const lines = colours('%%sh\nfor x in 1 2; do\n  echo "$HOME"\ndone');
    assert.match(scopesOf(lines, 'for'), /^meta\.embedded\.block\.shell .*keyword\.control/);
    assert.match(scopesOf(lines, 'echo'), /^meta\.embedded\.block\.shell .*support\.function\.builtin\.shell$/);
    assert.match(scopesOf(lines, 'HOME'), /variable\.other\.normal\.shell$/);
    const line = colours('%sh ls "$HOME" | wc "open\nconst a = 1;');
    for (const command of ['ls', 'wc'])
      assert.match(scopesOf(line, command), /^meta\.embedded\.line\.shell .*entity\.name\.command\.shell$/, command);
    assert.match(scopesOf(line, 'HOME'), /variable\.other\.normal\.shell$/);
    assert.deepEqual(line[1], plain('const a = 1;')[0]);
  });

  test('is TypeScript behind %time and under %%time, after what is said of it', () => {
    const code = 'await table.countRows({\n  filter: "a"\n});\nconst b = 2;';
    assert.deepEqual(colours(`%%timeit -n 3\n${code}`).slice(1), plain(code));
    const lines = colours(`%timeit -n 3 ${code}`);
    assert.equal(scopesOf(lines, '-n'), 'constant.other.option.ts');
    assert.match(scopesOf(lines, 'await'), /^keyword\.control\.flow\.ts$/);
    assert.deepEqual(lines.slice(1), plain(code).slice(1));
  });

  test('is not taken for code behind other magics', () => {
    const lines = colours('%install --yes d3-array@3 ./class\nconst a = 1;');
    assert.equal(scopesOf(lines, '--yes'), 'constant.other.option.ts');
    assert.equal(scopesOf(lines, 'd3-array@3'), 'string.unquoted.ts');
    assert.equal(scopesOf(lines, './class'), 'string.unquoted.ts');
    assert.deepEqual(lines[1], plain('const a = 1;')[0]);
  });

  // Each template ends with a construct that SQL's grammar would continue after the end of the template.
  for (const end of ['', ' -- all', " 'open", ' "open', ' /* open'])
    test(`is SQL in a template of sql, to its end after${end || ' a word'}`, () => {
      const after = '.first();\nconst next = `text ${1}`;';
      const lines = colours(`const rows = await sql\`select a from t\nwhere b in (\${ids}) and c${end}\`${after}`);
      assert.match(scopesOf(lines, 'select'), /meta\.embedded\.block\.sql keyword\.other\.DML\.sql$/);
      assert.match(scopesOf(lines, 'where'), /meta\.embedded\.block\.sql keyword\.other\.DML\.sql$/);
      assert.match(scopesOf(lines, 'ids'), /meta\.template\.expression\.ts .*variable\.other\.readwrite\.ts$/);
      assert.match(scopesOf(lines, 'first'), /^meta\.var\.expr\.ts .*entity\.name\.function\.ts$/);
      assert.deepEqual(lines.at(-1), plain('const next = `text ${1}`;')[0]);
    });

  for (const [text, commented] of [
    ['%%sql\nselect a', '-- select a'],
    ['const a = sql`\nselect a`', '-- select a`'],
    ['%%sh\nls', '# ls'],
    ['%%sql\nselect ${\na}', '// a}'],
  ] as const)
    test(`is commented as ${commented} by the key for that in the editor`, async () => {
      const document = await vscode.workspace.openTextDocument({ language: 'typescript', content: text });
      const editor = await vscode.window.showTextDocument(document);
      const last = document.lineCount - 1;
      const written = document.lineAt(last).text;
      // VS Code loads the grammar of a language when it first meets the language.
      for (const end = Date.now() + 60_000; ;) {
        editor.selection = new vscode.Selection(last, 0, last, 0);
        await vscode.commands.executeCommand('editor.action.commentLine');
        const { text: now, range } = document.lineAt(last);
        if (now === commented) break;
        assert.ok(Date.now() < end, now);
        await editor.edit((edit) => edit.replace(range, written));
        await new Promise((resolve) => setTimeout(resolve, 200));
      }
      await vscode.commands.executeCommand('workbench.action.revertAndCloseActiveEditor');
    });

  test('leaves all else as it is, in cells and in files', () => {
    const remainders =
      'const a = b\n  % time (c)\n  %rest\nconst d = e\n  ? who\n  : sh;\nf(\n  %sql\n);\n`\n%time\n`;\n/*\n%who\n*/';
    const tags = 'mysql`select`; db.sql`select`; sql(`select`); const o = { sql: `select` };';
    const texts = [
      '',
      '\n\n',
      '#!/usr/bin/env node\nlet a;',
      remainders,
      `\n \n${remainders}`,
      tags,
      'a?\n  b : c',
      '%rest',
    ];
    const files = globSync('{kernel/shared,extension/notebook}/**/*.ts', { cwd: repository });
    assert.ok(files.length > 50);
    for (const text of [...texts, ...files.map((file) => readFileSync(join(repository, file), 'utf8'))])
      assert.deepEqual(colours(text), plain(text), text.slice(0, 200));
  });
});
