import assert from 'node:assert/strict';
import { fork } from 'node:child_process';
import { once } from 'node:events';
import ts from 'typescript-6';
import { init } from '../../../../extension/typescriptPlugin/plugin.ts';
import { notebookOf, notebookPath, pluginName } from '../../../../extension/typescriptPlugin/pluginConfig.ts';
import { inRoot } from '../../../../scripts/paths.ts';

const ours = '^/vscode-notebook-cell/localhost:8080/home/me/ours.ipynb#W0sZmlsZQ';
const untitled = '^/vscode-notebook-cell/ts-nul-authority/Untitled-1.ipynb#W0s';
const other = '^/vscode-notebook-cell/localhost:8080/home/me/other.ipynb#W0s';
const longer = '^/vscode-notebook-cell/localhost:8080/home/me/ours.ipynb.ipynb#W0s';
const plain = '/home/me/ours.ts';
const types = '/ext/dist/types/notebook.d.ts';
const notebooks = ['/home/me/ours.ipynb', '/Untitled-1.ipynb'];

/** Stands in for a project of TypeScript's server, which is 190,000 lines with its own files and watchers. */
function projectStandIn(files: string[], ended = () => false) {
  const renewed: string[] = [];
  const project = {
    getFileNames: () => files,
    isClosed: ended,
    markAsDirty: () => renewed.push('dirty'),
    updateGraph: () => renewed.push('graph') > 0,
    refreshDiagnostics: () => void renewed.push('diagnostics'),
    getScriptFileNames: () => files,
  };
  return { project, renewed };
}

/** Returns the plugin over a real language service with these files, all with the same text. */
function serviceOver(files: string[], ended?: () => boolean, text = 'const theirs: string = 3;\ntheirs') {
  const { project, renewed } = projectStandIn(files, ended);
  const host: ts.LanguageServiceHost = {
    getCompilationSettings: () => ({ noLib: true, types: [], allowNonTsExtensions: true }),
    getScriptFileNames: () => files,
    getScriptVersion: () => '1',
    getScriptSnapshot: (file) => (files.includes(file) ? ts.ScriptSnapshot.fromString(text) : undefined),
    getScriptKind: () => ts.ScriptKind.TS,
    getCurrentDirectory: () => '/',
    getDefaultLibFileName: () => 'lib.d.ts',
    fileExists: (file) => files.includes(file),
    readFile: () => text,
  };
  const plugin = init();
  const languageService = ts.createLanguageService(host);
  const service = plugin.create({
    project,
    languageService,
    languageServiceHost: host,
    config: {},
    serverHost: ts.sys,
  } as unknown as ts.server.PluginCreateInfo);
  const answers = (file: string) => ({
    completions: service.getCompletionsAtPosition(file, text.length, {})?.entries.some(({ name }) => name === 'theirs'),
    hover: service.getQuickInfoAtPosition(file, text.length - 1) !== undefined,
    definition: service.getDefinitionAndBoundSpan(file, text.length - 1) !== undefined,
    errors: service.getSyntacticDiagnostics(file).length + service.getSemanticDiagnostics(file).length,
  });
  const coloured = (file: string): number =>
    service.getEncodedSemanticClassifications(
      file,
      { start: 0, length: text.length },
      ts.SemanticClassificationFormat.TwentyTwenty,
    ).spans.length;
  return { plugin, host, answers, coloured, renewed };
}

const silent = { completions: undefined, hover: false, definition: false, errors: 0 };
const speaking = { completions: true, hover: true, definition: true, errors: 1 };

suite("the plugin of the editor's TypeScript", () => {
  test('answers nothing for the cells that the language worker answers for', () => {
    const { plugin, answers } = serviceOver([ours, untitled]);
    plugin.onConfigurationChanged?.({ notebooks, isMuted: true, types });
    assert.deepEqual(answers(ours), silent);
    assert.deepEqual(answers(untitled), silent);
  });

  test('leaves other notebooks and files as they are', () => {
    const { plugin, answers, host } = serviceOver([ours, other, longer, plain]);
    plugin.onConfigurationChanged?.({ notebooks, isMuted: true, types });
    for (const file of [other, longer, plain]) {
      // Each file has an error, because all files are in one program and declare the same name.
      const { errors, ...rest } = answers(file);
      assert.deepEqual({ ...rest, errors: errors > 0 ? 1 : 0 }, speaking, file);
    }
    assert.deepEqual(host.getScriptFileNames(), [ours, other, longer, plain]);
  });

  test('colors no name of an SQL or shell cell, with and without the worker', () => {
    const code = 'const name = 1;\nname';
    for (const [head, isColoured] of [
      ['\n%%sql --to name', false],
      ['%%sh', false],
      ['%%time', true],
      ['%%sqlite', true],
    ] as const) {
      const { plugin, coloured } = serviceOver([ours, plain], undefined, `${head}\n${code}`);
      for (const isMuted of [true, false]) {
        plugin.onConfigurationChanged?.({ notebooks, isMuted, types });
        assert.equal(coloured(ours) > 0, isColoured, head);
        assert.ok(coloured(plain) > 0);
      }
    }
  });

  test('shows no errors in a cell with a magic, also before the extension has told it which notebooks are ours', () => {
    for (const [head, isShown] of [
      ['%%sql', false],
      ['\n  %time', false],
      ['?db', false],
      ['??db', false],
      ['', true],
      ['// %%sql', true],
    ] as const) {
      const { answers } = serviceOver([ours, plain], undefined, `${head}\nselect 1 from theirs`);
      assert.equal(answers(ours).errors > 0, isShown, head);
      assert.ok(answers(plain).errors > 0, 'a file is no cell');
    }
  });

  test('lets TypeScript answer again when the worker is down', () => {
    const { plugin, answers } = serviceOver([ours]);
    plugin.onConfigurationChanged?.({ notebooks, isMuted: true, types });
    plugin.onConfigurationChanged?.({ notebooks, isMuted: false, types });
    assert.deepEqual(answers(ours), speaking);
  });

  test('declares the globals of a notebook while the worker is not available, only for our cells', () => {
    const config = { notebooks, isMuted: false, types };
    const alone = serviceOver([ours]);
    alone.plugin.onConfigurationChanged?.(config);
    assert.deepEqual(alone.host.getScriptFileNames(), [ours, types]);
    for (const neighbour of [other, plain]) {
      const { plugin, host } = serviceOver([ours, neighbour]);
      plugin.onConfigurationChanged?.(config);
      assert.deepEqual(host.getScriptFileNames(), [ours, neighbour]);
    }
  });

  test('updates only projects with cells when it gets a configuration', () => {
    const cells = serviceOver([ours]);
    cells.plugin.onConfigurationChanged?.({ notebooks, isMuted: true, types });
    assert.deepEqual(cells.renewed, ['dirty', 'graph', 'diagnostics']);
    const files = serviceOver([plain]);
    files.plugin.onConfigurationChanged?.({ notebooks, isMuted: true, types });
    assert.deepEqual(files.renewed, []);
  });

  test('forgets projects that were closed', () => {
    const closed = serviceOver([ours], () => true);
    closed.plugin.onConfigurationChanged?.({ notebooks, isMuted: true, types });
    assert.deepEqual(closed.renewed, []);
  });

  test('takes nothing but a whole configuration', () => {
    const { plugin, answers } = serviceOver([ours]);
    for (const wrong of [
      undefined,
      null,
      'x',
      {},
      { notebooks, isMuted: true },
      { notebooks: [1], isMuted: true, types },
    ])
      plugin.onConfigurationChanged?.(wrong);
    assert.deepEqual(answers(ours), speaking);
  });

  test('knows the notebook of a cell by its path', () => {
    assert.equal(notebookOf(ours), '/home/me/ours.ipynb');
    assert.equal(notebookOf(untitled), notebookPath('Untitled-1.ipynb'));
    assert.equal(notebookOf(plain), undefined);
    assert.equal(notebookOf('^/untitled/ts-nul-authority/Untitled-1'), undefined);
  });

  test('is silent in each cell of an untitled notebook, for which the server has a project of its own', async function () {
    this.timeout(60_000);
    const server = fork(
      inRoot('node_modules/typescript-6/lib/tsserver.js'),
      [
        '--useNodeIpc',
        '--useInferredProjectPerProjectRoot',
        '--disableAutomaticTypingAcquisition',
        '--globalPlugins',
        pluginName,
        '--pluginProbeLocations',
        inRoot(),
      ],
      { cwd: inRoot(), stdio: ['ignore', 'ignore', 'inherit', 'ipc'] },
    );
    try {
      let seq = 0;
      const send = (command: string, args: object) =>
        void server.send({ seq: ++seq, type: 'request', command, arguments: args });
      const problems = async (file: string, fileContent = 'select 1'): Promise<unknown> => {
        send('open', { file, fileContent, scriptKindName: 'TS' });
        send('syntacticDiagnosticsSync', { file });
        for (;;) {
          const [message] = (await once(server, 'message')) as [{ request_seq?: number; body?: unknown[] }];
          if (message.request_seq === seq) return message.body?.length;
        }
      };
      assert.notEqual(await problems(untitled), 0, 'before the server has the configuration');
      assert.equal(await problems(untitled.replace('#W0s', '#W3s'), '%%sql\nselect 1'), 0, 'a cell with a magic');
      send('configurePlugin', { pluginName, configuration: { notebooks, isMuted: true, types } });
      assert.equal(await problems(untitled.replace('#W0s', '#W1s')), 0);
      assert.equal(await problems(untitled.replace('#W0s', '#W2s')), 0);
      assert.notEqual(await problems(other), 0, 'the cell of another notebook');
    } finally {
      server.kill();
    }
  });
});
