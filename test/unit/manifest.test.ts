import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import manifest from '../../package.json' with { type: 'json' };
import {
  commandIds,
  contextIds,
  debuggerType,
  notebookIds,
  settingIds,
  viewContainerId,
  viewIds,
} from '../../extension/manifest.ts';

const { contributes } = manifest;
const root = join(import.meta.dirname, '../..');
const menus = Object.values(contributes.menus).flat();
/** Our kernel as the editor names it in `when` clauses. */
const ourKernel = `${manifest.publisher}.${manifest.name}/${notebookIds.controller}`;

suite('package.json and extension/manifest.ts', () => {
  test('name the same commands', () => {
    assert.deepEqual(contributes.commands.map(({ command }) => command).toSorted(), commandIds.toSorted());
  });

  test('name the same settings', () => {
    assert.deepEqual(Object.keys(contributes.configuration.properties).toSorted(), settingIds.toSorted());
  });

  test('name the same views', () => {
    assert.deepEqual(Object.keys(contributes.views), [viewContainerId]);
    assert.deepEqual(contributes.views.lanceCatalog.map(({ id }) => id).toSorted(), Object.values(viewIds).toSorted());
  });

  test('name the same renderers', () => {
    assert.deepEqual(
      contributes.notebookRenderer.map(({ id }) => id),
      [notebookIds.renderer, notebookIds.jobRenderer, notebookIds.vegaRenderer, notebookIds.plotlyRenderer],
    );
  });

  test('name the same debugger, which no language of other files is given', () => {
    assert.deepEqual(
      contributes.debuggers.map(({ type, hiddenWhen, ...rest }) => [type, hiddenWhen, 'languages' in rest]),
      [[debuggerType, 'true', false]],
    );
  });

  test('let a breakpoint be set in every language that our kernel runs', () => {
    assert.deepEqual(
      contributes.breakpoints.map(({ language }) => language),
      ['typescript', 'javascript'],
    );
  });

  test('offer to debug a cell only where the kernel is ours, in a trusted workspace', () => {
    const clauses = menus.filter(({ command }) => command === 'lanceCatalog.notebook.debugCell');
    assert.equal(clauses.length, 2);
    for (const entry of clauses) {
      const when = 'when' in entry ? entry.when : '';
      // Before a cell ran, the editor names no kernel.
      const isOurs = `(notebookKernel == '${ourKernel}' || !notebookKernel && lanceCatalog.notebook.hasKernel)`;
      assert.ok(when.startsWith(`${isOurs} &&`) && when.endsWith('&& isWorkspaceTrusted'), when);
    }
  });

  test('give every menu and key a command that exists', () => {
    const used = [...menus, ...contributes.keybindings].map(({ command }) => command);
    assert.deepEqual(
      used.filter((command) => !commandIds.includes(command)),
      // The editor's own, by the key that people know from Jupyter.
      ['notebook.cell.execute'],
    );
  });

  test('use no context key of ours that nobody sets', () => {
    const views = Object.values(contributes.views).flat();
    const clauses = [...menus, ...views].map((entry) => ('when' in entry ? entry.when : '')).join(' ');
    const known = [...contextIds, ...Object.values(viewIds), 'lanceCatalog.table'];
    const used: string[] = clauses.match(/lanceCatalog\.[\w.]+/g) ?? [];
    assert.deepEqual(
      used.filter((key) => !known.includes(key)),
      [],
    );
    for (const key of contextIds) assert.ok(used.includes(key), `no when clause reads ${key}`);
  });

  test("offer to restart our kernel only where it is the notebook's, in a trusted workspace", () => {
    const clauses = menus.filter(({ command }) => command === 'lanceCatalog.notebook.restartKernel');
    assert.deepEqual(
      clauses.map((entry) => 'when' in entry && entry.when),
      // Before a cell ran the editor names no kernel; ours are started in trusted workspaces only.
      Array.from(
        { length: 2 },
        () =>
          `notebookKernel == '${ourKernel}' && isWorkspaceTrusted || ` +
          `notebookType == 'jupyter-notebook' && lanceCatalog.notebook.hasKernel`,
      ),
    );
  });

  test('point at files that are there', () => {
    const files = [
      ...contributes.viewsContainers.activitybar.map(({ icon }) => icon),
      ...contributes.snippets.map(({ path }) => path),
      ...contributes.grammars.map(({ path }) => path),
    ];
    for (const file of files) assert.ok(existsSync(join(root, file)), `${file} is missing`);
  });

  test('put every command under one category with a title of its own', () => {
    assert.deepEqual([...new Set(contributes.commands.map(({ category }) => category))], ['Lance Catalog']);
    const titles = contributes.commands.map(({ title }) => title);
    assert.equal(new Set(titles).size, titles.length);
  });

  test('restrict in an untrusted workspace every setting that starts a program or names a path', () => {
    assert.deepEqual(
      manifest.capabilities.untrustedWorkspaces.restrictedConfigurations.toSorted(),
      settingIds.toSorted(),
    );
  });
});
