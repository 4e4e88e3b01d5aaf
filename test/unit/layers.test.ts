import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { cpSync, existsSync, globSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { build } from 'esbuild';
import { bundleOptions, bundles, type Bundle } from '../../scripts/bundles.ts';
import { inRoot } from '../../scripts/paths.ts';
import { tempFolder } from '../harness/temp.ts';

/** The folder of each layer, and a file of the layer that another layer could import. */
const layers = {
  shared: { folder: 'kernel/shared', import: '#shared/errors.ts' },
  processes: { folder: 'kernel/processes', import: '#processes/childProcess.ts' },
  catalog: { folder: 'kernel/catalog', import: '#catalog/connect.ts' },
  engine: { folder: 'kernel/engine', import: '#engine/register.ts' },
  cluster: { folder: 'kernel/cluster', import: '#cluster/verifyCluster.ts' },
  jobs: { folder: 'kernel/jobs', import: '#jobs/jobSpec.ts' },
  sql: { folder: 'kernel/sql', import: '#sql/sqlEngine.ts' },
  views: { folder: 'kernel/views', import: '#views/serveViews.ts' },
  session: { folder: 'kernel/session', import: '#session/preload.ts' },
  cli: { folder: 'kernel', import: undefined },
  extension: { folder: 'extension', import: undefined },
  webviews: { folder: 'webviews', import: undefined },
} as const;
type Layer = keyof typeof layers;

/**
 * The rule of ARCHITECTURE.md: which layers each layer may import. All other imports are forbidden, and tested below.
 */
const allowed: Readonly<Record<Layer, readonly Layer[]>> = {
  shared: [],
  processes: ['shared'],
  catalog: ['shared', 'processes'],
  engine: ['shared', 'processes', 'catalog'],
  cluster: ['shared', 'processes', 'catalog'],
  jobs: ['shared', 'processes', 'catalog', 'engine', 'cluster'],
  sql: ['shared', 'processes', 'catalog'],
  views: ['shared', 'processes', 'catalog', 'sql'],
  session: ['shared', 'processes', 'catalog', 'engine', 'cluster', 'jobs', 'sql'],
  cli: ['shared', 'processes', 'catalog', 'engine', 'cluster', 'jobs', 'sql', 'session'],
  extension: ['shared', 'processes', 'catalog', 'cluster'],
  webviews: ['shared'],
};

/** Packages and Node modules that only some layers may import. */
const guarded = {
  vscode: ['extension'],
  'apache-arrow': [],
  'apache-arrow/Arrow.mjs': [],
  '@lancedb/lancedb': ['engine'],
  'node:fs': ['processes', 'catalog', 'engine', 'cluster', 'jobs', 'sql', 'views', 'session', 'cli', 'extension'],
} as const satisfies Record<string, readonly Layer[]>;

type Violation = { readonly file: string; readonly from: Layer; readonly specifier: string };

const names = Object.keys(layers).filter((name): name is Layer => Object.hasOwn(layers, name));

/** Returns one file for every forbidden import: by the import map and by relative path, static and dynamic. */
function violations(): Violation[] {
  const found: Violation[] = [];
  const add = (from: Layer, specifier: string): void => {
    const file = join(layers[from].folder, `planted${found.length}.ts`);
    found.push({ file, from, specifier });
  };
  for (const from of names) {
    for (const to of names) {
      if (from === to || allowed[from].includes(to)) continue;
      const target = layers[to].import;
      if (target !== undefined) add(from, target);
      // Also import by relative path. For files outside of the import map this is the only way.
      const up = '../'.repeat(layers[from].folder.split('/').length);
      if (to === 'cli') add(from, `${up}kernel/cli.ts`);
      else
        add(
          from,
          `${up}${to === 'extension' ? 'extension/manifest' : to === 'webviews' ? 'webviews/grid/pages' : `${layers[to].folder}/${basename(target)}`}.ts`,
        );
    }
    for (const [specifier, layersOfIt] of Object.entries(guarded)) {
      if (!(layersOfIt as readonly Layer[]).includes(from)) add(from, specifier);
    }
  }
  return found;
}

const basename = (specifier: string | undefined): string => specifier?.split('/').at(-1)?.replace(/\.ts$/, '') ?? '';

/** Copies everything that the linter and the compiler read into a new folder. Packages are linked, not copied. */
function copySources(): string {
  const folder = tempFolder('lance-layers-');
  const parts = ['kernel', 'extension', 'webviews', 'package.json', '.oxlintrc.json', 'tsconfig.base.json'];
  for (const part of parts) cpSync(inRoot(part), join(folder, part), { recursive: true });
  symlinkSync(inRoot('node_modules'), join(folder, 'node_modules'), 'dir');
  // The lint rules of the layers need no types. Without types the linter takes a tenth of the time.
  const rules = join(folder, '.oxlintrc.json');
  writeFileSync(rules, readFileSync(rules, 'utf8').replace('"typeAware": true', '"typeAware": false'));
  return folder;
}

const ruled = [
  'no-restricted-imports',
  'no-restricted-globals',
  'no-restricted-properties',
  'no-require-imports',
  'no-cycle',
];

/** Calls whose arguments VS Code reads as markup. Only extension/host/messages.ts may use them. */
const markupSinks = [
  'showInformationMessage',
  'showWarningMessage',
  'showErrorMessage',
  'withProgress',
  'setStatusBarMessage',
  'createStatusBarItem',
  'showInputBox',
  'createInputBox',
  'showQuickPick',
  'createQuickPick',
].map((name) => `vscode.window.${name}`);

/** Returns the files that the lint rules of the layers refuse, relative to the folder. */
async function refusedByLint(folder: string): Promise<Map<string, string>> {
  const { output } = await runNode(folder, [
    inRoot('node_modules/oxlint/bin/oxlint'),
    '--format=json',
    'kernel',
    'extension',
    'webviews',
  ]);
  const report = JSON.parse(output) as { diagnostics: { code: string; message: string; filename: string }[] };
  const refused = report.diagnostics.filter(({ code }) => ruled.some((rule) => code.includes(rule)));
  return new Map(
    refused.map(({ filename, code, message }) => [
      filename.replaceAll('\\', '/').replace(`${folder}/`, ''),
      `${code}: ${message}`,
    ]),
  );
}

function runNode(cwd: string, args: readonly string[]): Promise<{ code: number | null; output: string }> {
  const child = spawn(process.execPath, args, { cwd, stdio: ['ignore', 'pipe', 'pipe'] });
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => (output += text));
  return new Promise((resolve, reject) =>
    child.once('error', reject).once('close', (code) => resolve({ code, output })),
  );
}

/** Returns esbuild's messages for a bundle whose entry imports one module. */
async function bundleErrors(bundle: Bundle, specifier: string): Promise<string> {
  const folder = tempFolder('lance-bundle-');
  const entry = join(folder, bundle.entry.replace(/\.tsx$/, '.ts'));
  mkdirSync(dirname(entry), { recursive: true });
  writeFileSync(entry, `import * as planted from '${specifier}';\nexport { planted };\n`);
  try {
    await build({ ...bundleOptions({ ...bundle, entry }), write: false });
    return '';
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Other code that the lint rules refuse, each in a separate file. */
const calledFiles = (
  ['shared', 'processes', 'catalog', 'engine', 'cluster', 'jobs', 'session', 'webviews'] as const
).map((name) => join(layers[name].folder, 'called.ts'));
const requiredFile = 'kernel/session/required.ts';
const globalsFile = 'kernel/shared/globals.ts';
const cycleFiles = ['kernel/catalog/here.ts', 'kernel/catalog/there.ts'];

/** Imports of a file from a project that is missing in the references. */
const references = (
  [
    ['kernel/shared', '../catalog/connect.ts'],
    ['kernel/processes', '#catalog/connect.ts'],
    ['kernel/catalog', '#engine/register.ts'],
    ['kernel/engine', '../session/preload.ts'],
    ['kernel/cluster', '#engine/register.ts'],
    ['kernel/jobs', '#session/preload.ts'],
    ['kernel/session', '../../extension/manifest.ts'],
    ['kernel', '../extension/manifest.ts'],
    ['extension', '../kernel/engine/register.ts'],
    ['webviews', '../kernel/catalog/connect.ts'],
  ] as const
).map(([project, specifier]) => ({ file: join(project, 'referenced.ts'), specifier }));

const messagesFile = 'extension/host/messages.ts';

/** Raw text in each place where VS Code would read it as markup. */
const rawTextCalls = [
  'window.showErrorMessage(raw)',
  "window.showWarningMessage(inert(''), { modal: true, detail: raw })",
  'window.setStatusBarMessage(raw, 1)',
  "window.showInputBox({ title: inert(''), prompt: raw, ignoreFocusOut: true })",
  'void (createInputBox().validationMessage = raw)',
  'createMarkdown(raw)',
];

/**
 * Compiles the sources once with all code that the compiler must refuse. @returns the line where the raw texts start
 */
async function compilePlanted(): Promise<{ output: string; firstLine: number }> {
  const folder = copySources();
  for (const { file, specifier } of references)
    writeFileSync(join(folder, file), `export * as planted from '${specifier}';\n`);
  const before = readFileSync(join(folder, messagesFile), 'utf8');
  const lines = rawTextCalls.map((call, index) => `export const planted${index} = (raw: string) => ${call};`);
  writeFileSync(join(folder, messagesFile), `${before}\n${lines.join('\n')}\n`);
  const program = [inRoot('node_modules/typescript/bin/tsc'), '-b', 'kernel', 'extension', 'webviews'];
  const { output } = await runNode(folder, program);
  return { output, firstLine: before.split('\n').length + 1 };
}

/** Uses of VS Code's calls that take markup, each in a separate file. */
const messageTexts = new Map(
  [
    ...[
      ...markupSinks.flatMap((name) => [name, name.replace(/\.(\w+)$/, "['$1']")]),
      ...['MarkdownString', 'Hover'].map((name) => `new vscode.${name}('')`),
      '((window: typeof vscode.window) => window.showErrorMessage)',
    ].map((call) => `import * as vscode from 'vscode';\nexport const used = ${call};\n`),
    `import * as vscode from 'vscode';\nconst { showErrorMessage } = vscode.window;\nexport const used = showErrorMessage;\n`,
  ].map((text, index) => [`extension/jobs/message${index}.ts`, text]),
);

function plantedTexts(planted: readonly Violation[]): Map<string, string> {
  const texts = new Map(messageTexts);
  for (const { file, specifier } of planted)
    texts.set(file, `import * as planted from '${specifier}';\nexport const used = planted;\n`);
  for (const file of calledFiles) texts.set(file, `export const called = import('vscode');\n`);
  texts.set(requiredFile, `export const used: unknown = require('apache-arrow');\n`);
  texts.set(globalsFile, 'export const used = [process, Buffer, document];\n');
  for (const [index, file] of cycleFiles.entries()) {
    const other = basename(cycleFiles[1 - index]);
    texts.set(
      file,
      `import type { Planted as Other } from './${other}.ts';\nexport type Planted = { other?: Other };\n`,
    );
  }
  return texts;
}

suite('The layer locks', function () {
  this.timeout(240_000);
  let folder: string;
  let refused: Map<string, string>;
  let compiled: ReturnType<typeof compilePlanted>;
  const planted = violations();
  const texts = plantedTexts(planted);

  /** Run the linter once over the sources and all added files, because one file takes as long as a hundred. */
  suiteSetup(async () => {
    folder = copySources();
    for (const [file, text] of texts) writeFileSync(join(folder, file), text);
    refused = await refusedByLint(folder);
    compiled = compilePlanted();
  });

  test('let the sources as they are through', () => {
    assert.deepEqual(
      [...refused].filter(([file]) => !texts.has(file)),
      [],
    );
  });

  test('refuse every forbidden import, naming the file', () => {
    assert.ok(planted.length > 40, `${planted.length} edges are planted`);
    assert.deepEqual(
      planted.filter(({ file }) => !refused.has(file)).map(({ from, specifier }) => `${from} may import ${specifier}`),
      [],
    );
  });

  test('refuse an import that is written as a call', () => {
    assert.deepEqual(
      calledFiles.filter((file) => !refused.has(file)),
      [],
    );
  });

  test('refuse a require, which the rules about imports do not see', () => {
    assert.ok(refused.has(requiredFile));
  });

  test('refuse a message, a prompt and Markdown past the file that makes text inert', () => {
    assert.deepEqual(
      [...messageTexts.keys()].filter((file) => !refused.get(file)?.includes('no-restricted-properties')),
      [],
    );
  });

  test('know what is read from vscode by name, as nothing of it is imported alone but types', () => {
    const sources = globSync('extension/**/*.ts', { cwd: inRoot() });
    const imports = sources.flatMap((file) => [...readFileSync(inRoot(file), 'utf8').matchAll(/^.*from 'vscode';$/gm)]);
    assert.ok(imports.length > 50, `${imports.length} imports`);
    const named = imports.filter(
      ([line]) => !/^import (?:type \{.*\}|(?:type )?\* as vscode) from 'vscode';$/.test(line),
    );
    assert.deepEqual(
      named.map(([line]) => line),
      [],
    );
  });

  test('refuse raw text in the file that makes text inert', async () => {
    const { output, firstLine } = await compiled;
    const lines = rawTextCalls.filter((_, index) => output.includes(`${messagesFile}(${firstLine + index},`));
    assert.deepEqual(lines, rawTextCalls, output);
  });

  test('refuse two files that need types of each other', () => {
    assert.deepEqual(
      cycleFiles.filter((file) => !refused.get(file)?.includes('no-cycle')),
      [],
    );
  });

  test('refuse what only some of the places have that the bottom layer runs in', async () => {
    assert.ok(refused.has(globalsFile));
    const { output } = await runNode(folder, [
      inRoot('node_modules/typescript/bin/tsc'),
      '-p',
      'kernel/shared',
      '--noEmit',
      '--composite',
      'false',
      '--emitDeclarationOnly',
      'false',
    ]);
    assert.match(output, /kernel\/shared\/globals\.ts.*Cannot find name 'document'/);
  });

  test('refuse a file of another project, by the project references', async () => {
    const { output } = await compiled;
    // Check only that the added files are refused. `npm run check` shows that the original sources compile.
    for (const { file } of references)
      assert.match(output, new RegExp(`^${file.replace('.', '\\.')}\\(.*TS6(059|307)`, 'm'), output);
  });

  test('let no bundle of the kernel resolve vscode', async () => {
    for (const bundle of bundles.filter(({ kind }) => kind === 'kernel')) {
      assert.match(await bundleErrors(bundle, 'vscode'), /Could not resolve "vscode"/, bundle.entry);
    }
  });

  test('let no bundle of the webviews resolve vscode or a module of Node', async () => {
    for (const bundle of bundles.filter(({ kind }) => kind === 'webview' || kind === 'renderer' || kind === 'chart')) {
      for (const specifier of ['vscode', 'node:fs']) {
        assert.match(await bundleErrors(bundle, specifier), /Could not resolve/, `${bundle.entry}: ${specifier}`);
      }
    }
  });

  test('leave a kernel that starts in plain Node and says what it needs', async () => {
    const kernel = inRoot('dist/kernel.cjs');
    assert.ok(existsSync(kernel), 'dist/kernel.cjs is built');
    const { code, output } = await runNode(folder, [kernel]);
    assert.equal(code, 2);
    assert.match(output, /Can't start the kernel: no client connection is given\./);
  });
});
