import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { commands } from '../../../extension/contributions/commands.ts';
import { packageContributions } from '../../../extension/contributions/contributions.ts';
import { notebookIds } from '../../../extension/manifest.ts';
import manifest from '../../../package.json' with { type: 'json' };
import { inRoot } from '../../../scripts/paths.ts';

const { contributes, restrictedConfigurations } = packageContributions();
const menus = Object.values(contributes.menus).flat();
/** The id of our kernel in `when` clauses. */
const ourKernel = `${manifest.publisher}.${manifest.name}/${notebookIds.controller}`;

suite('What package.json contributes', () => {
  test('has views under the container that it adds', () => {
    assert.deepEqual(
      Object.keys(contributes.views),
      contributes.viewsContainers.activitybar.map(({ id }) => id),
    );
  });

  test('has a debugger that is given no language of other files', () => {
    assert.deepEqual(
      contributes.debuggers.map(({ hiddenWhen, ...rest }) => [hiddenWhen, 'languages' in rest]),
      [['true', false]],
    );
  });

  test('lets a breakpoint be set in every language that our kernel runs', () => {
    assert.deepEqual(
      contributes.breakpoints.map(({ language }) => language),
      ['typescript', 'javascript'],
    );
  });

  test('offers to debug a cell only where the kernel is ours, in a trusted workspace', () => {
    const clauses = menus.filter(({ command }) => command === 'lanceCatalog.notebook.debugCell');
    assert.equal(clauses.length, 2);
    for (const { when } of clauses) {
      // Before a cell has run, VS Code reports no kernel.
      const isOurs = `(notebookKernel == '${ourKernel}' || !notebookKernel && lanceCatalog.notebook.hasKernel)`;
      assert.ok(when.startsWith(`${isOurs} &&`) && when.endsWith('&& isWorkspaceTrusted'), when);
    }
  });

  test('offers to restart our kernel only where it is that of the notebook, in a trusted workspace', () => {
    assert.deepEqual(
      menus.filter(({ command }) => command === 'lanceCatalog.notebook.restartKernel').map(({ when }) => when),
      // Before a cell has run, VS Code reports no kernel. Our kernels start in trusted workspaces only.
      Array.from(
        { length: 2 },
        () =>
          `notebookKernel == '${ourKernel}' && isWorkspaceTrusted || ` +
          `notebookType == 'jupyter-notebook' && lanceCatalog.notebook.hasKernel`,
      ),
    );
  });

  test('points at files that exist', () => {
    const files = [
      ...contributes.viewsContainers.activitybar.map(({ icon }) => icon),
      ...Object.values(contributes.views).flatMap((views) => views.map(({ icon }) => icon)),
      ...contributes.snippets.map(({ path }) => path),
      ...contributes.grammars.map(({ path }) => path),
      ...contributes.jsonValidation.map(({ url }) => url),
      ...contributes.walkthroughs.flatMap(({ icon, steps }) => [
        icon,
        ...steps.map(({ media }) => ('image' in media ? media.image : media.markdown)),
      ]),
    ];
    for (const file of files) assert.ok(existsSync(inRoot(file)), `${file} is missing`);
  });

  test('gives every command a title of its own', () => {
    const titles = Object.values(commands).map(({ title }) => title);
    assert.equal(new Set(titles).size, titles.length);
  });

  test('restricts in an untrusted workspace every setting that package.json has', () => {
    const { properties } = manifest.contributes.configuration;
    assert.deepEqual(restrictedConfigurations, Object.keys(properties).toSorted());
    assert.deepEqual(manifest.capabilities.untrustedWorkspaces.restrictedConfigurations, restrictedConfigurations);
  });
});
