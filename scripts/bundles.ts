import type { BuildOptions, Plugin } from 'esbuild';
import { basename, relative, sep } from 'node:path';
import { ownGlobalNames } from '#shared/ownGlobals.ts';
import { lateArrow } from './lateArrow.ts';
import { inRoot, root } from './paths.ts';

/**
 * The bundles of the product. Two of them are locks as well as bundles: `vscode` is an external of the extension alone,
 * so an import of it from kernel/ does not resolve, and neither does `node:*` from webviews/ (see test/unit/layers.test.ts).
 */
export type Bundle = {
  /** Files it makes in dist/, the first one is the script. */
  readonly outputs: readonly string[];
  /** Source file it starts from, relative to the root. */
  readonly entry: string;
  readonly kind: 'extension' | 'kernel' | 'snapshot' | 'worker' | 'webview' | 'renderer';
};

export const bundles: readonly Bundle[] = [
  { outputs: ['extension.cjs'], entry: 'extension/extension.ts', kind: 'extension' },
  { outputs: ['typescriptPlugin.cjs'], entry: 'extension/typescriptPlugin/plugin.ts', kind: 'kernel' },
  { outputs: ['cli.cjs'], entry: 'kernel/cli.ts', kind: 'kernel' },
  { outputs: ['engine.cjs'], entry: 'kernel/engine/main.ts', kind: 'kernel' },
  { outputs: ['cluster.cjs'], entry: 'kernel/cluster/entry.ts', kind: 'kernel' },
  { outputs: ['kubeClient.cjs'], entry: 'kernel/cluster/kube/kubeClient.ts', kind: 'kernel' },
  { outputs: ['jobParts.cjs'], entry: 'kernel/jobs/entry.ts', kind: 'kernel' },
  { outputs: ['kernel.cjs'], entry: 'kernel/session/main.ts', kind: 'kernel' },
  { outputs: ['kernelCore.cjs'], entry: 'kernel/session/core/coreStart.ts', kind: 'kernel' },
  { outputs: ['kernelWorker.cjs'], entry: 'kernel/session/worker/main.ts', kind: 'kernel' },
  { outputs: ['relay.cjs'], entry: 'kernel/session/jupyter/relay/relay.ts', kind: 'kernel' },
  { outputs: ['languageWorker.cjs'], entry: 'kernel/session/analysis/main.ts', kind: 'kernel' },
  { outputs: ['sqlite.cjs'], entry: 'kernel/session/sql/database/main.ts', kind: 'kernel' },
  { outputs: ['kernelSnapshot.cjs'], entry: 'kernel/session/start/snapshotEntry.ts', kind: 'snapshot' },
  { outputs: ['fromSnapshot.cjs'], entry: 'kernel/session/start/fromSnapshot.ts', kind: 'kernel' },
  { outputs: ['snapshotMaker.cjs'], entry: 'kernel/session/start/makeSnapshot.ts', kind: 'kernel' },
  { outputs: ['functionWorker.mjs'], entry: 'kernel/jobs/worker/main.ts', kind: 'worker' },
  { outputs: ['launcher.cjs'], entry: 'kernel/session/kernelspecs/launcher.ts', kind: 'kernel' },
  { outputs: ['job.cjs'], entry: 'kernel/jobs/process/main.ts', kind: 'kernel' },
  { outputs: ['jobs.cjs'], entry: 'kernel/jobs/editor/main.ts', kind: 'kernel' },
  { outputs: ['table.js', 'table.css'], entry: 'webviews/table/main.tsx', kind: 'webview' },
  { outputs: ['jobPage.js', 'jobPage.css'], entry: 'webviews/jobs/page/main.tsx', kind: 'webview' },
  { outputs: ['renderer.js'], entry: 'webviews/renderer/main.tsx', kind: 'renderer' },
  { outputs: ['jobRenderer.js'], entry: 'webviews/jobs/output/main.tsx', kind: 'renderer' },
  { outputs: ['vegaRenderer.js'], entry: 'webviews/charts/vega.ts', kind: 'renderer' },
  { outputs: ['plotlyRenderer.js'], entry: 'webviews/charts/plotly.ts', kind: 'renderer' },
];

/** Folder whose Python files are shipped as they are: they need no bundler, and people may read them. */
export const pythonFolder = 'kernel/jobs/driver';

/** What kernelspecs start where there is a shell; shipped as it is. */
export const shellLauncher = 'kernel/session/kernelspecs/launcher.sh';

/**
 * Packages that stay in node_modules: native code (esbuild is a program beside its module), and apache-arrow and TypeScript because a second copy of either in one
 * process misbehaves without an error (unreadable streams; two type checkers that do not know each other's nodes).
 */
export const runtimePackages = ['apache-arrow', '@lancedb/lancedb', 'esbuild', 'typescript-6', 'zeromq'] as const;

/** Code written as ES modules says `import.meta`; the CommonJS bundles get the same values from Node's own variables. */
const importMeta: BuildOptions = {
  define: {
    'import.meta.url': 'importMetaUrl',
    'import.meta.dirname': '__dirname',
    'import.meta.filename': '__filename',
  },
  banner: { js: `const importMetaUrl = require('node:url').pathToFileURL(__filename).href;` },
};

const takeGlobals = `const { ${ownGlobalNames.join(', ')} } = globalThis;`;

const node: BuildOptions = {
  ...importMeta,
  platform: 'node',
  format: 'cjs',
  target: 'node22',
};

/**
 * TypeScript for all files of a bundle that import it. esbuild copies what a CommonJS module exports for each of them anew,
 * and these are 2,700 names: thirty copies take a tenth of a second and a dozen megabytes.
 */
const oneTypescript: Plugin = {
  name: 'one-typescript',
  setup(build) {
    const namespace = 'one-typescript';
    build.onResolve({ filter: /^typescript-6$/ }, ({ path, kind }) =>
      kind === 'import-statement' ? { path, namespace } : undefined,
    );
    build.onLoad({ filter: /^/, namespace }, ({ path }) => ({
      contents: `const ts = require('${path}');\nexport default ts;`,
      resolveDir: root,
    }));
  },
};

/**
 * Source files that are bundles of their own, which others load when a user asks for what they do: the libraries of the
 * clouds, the Kubernetes client, backfills.
 */
export const apart: Readonly<Record<string, string>> = {
  'kernel/cluster/entry.ts': './cluster.cjs',
  'kernel/cluster/kube/kubeClient.ts': './kubeClient.cjs',
  'kernel/jobs/entry.ts': './jobParts.cjs',
};

/**
 * Makes an import of such a file load its bundle, however the import is written. A static one would copy megabytes into
 * another bundle without a word, so it fails the build.
 */
const bundlesApart = (entry: string, sourceRoot: string): Plugin => ({
  name: 'bundles-apart',
  setup(build) {
    const names = new Set(Object.keys(apart).map((file) => basename(file)));
    build.onResolve({ filter: /^[#.].*\.ts$/ }, async ({ path, kind, importer, resolveDir, pluginData }) => {
      // Resolving again below comes here again.
      if (pluginData === isResolving || !names.has(basename(path))) return undefined;
      const resolved = await build.resolve(path, { kind, importer, resolveDir, pluginData: isResolving });
      const file = relative(sourceRoot, resolved.path).split(sep).join('/');
      const bundle = apart[file];
      if (bundle === undefined || file === entry) return undefined;
      if (kind === 'dynamic-import') return { path: bundle, external: true };
      const text = `Can't import "${file}" statically: it is a separate bundle. Use import().`;
      return { errors: [{ text }] };
    });
  },
});

const isResolving = Symbol('bundles-apart');

const browser: BuildOptions = {
  platform: 'browser',
  format: 'esm',
  target: 'es2022',
  jsx: 'automatic',
  minify: true,
  legalComments: 'none',
  // Without `node` among the conditions #arrow is the ES module build, the one a bundler can shake.
  conditions: ['browser', 'production'],
  define: { 'process.env.NODE_ENV': '"production"' },
};

/** Its entry for Node asks for its other files in a way that no bundler can follow. */
const jsoncParser = inRoot('node_modules/jsonc-parser/lib/esm/main.js');

/** esbuild's options for one bundle. */
export function bundleOptions(bundle: Bundle, sourceRoot: string = root): BuildOptions {
  const common: BuildOptions = {
    absWorkingDir: sourceRoot,
    entryPoints: [bundle.entry],
    outfile: `dist/${bundle.outputs[0] ?? ''}`,
    bundle: true,
    logLevel: 'silent',
  };
  switch (bundle.kind) {
    case 'extension':
      return {
        ...common,
        ...node,
        external: ['vscode', ...runtimePackages],
        plugins: [lateArrow, bundlesApart(bundle.entry, sourceRoot)],
        alias: { 'jsonc-parser': jsoncParser },
      };
    case 'kernel':
      return {
        ...common,
        ...node,
        banner: { js: `${importMeta.banner?.['js'] ?? ''}\n${takeGlobals}` },
        external: [...runtimePackages],
        // By `require`, later: of what an interrupt cuts off while Node imports it, Node never hears again.
        supported: { 'dynamic-import': false },
        plugins: [oneTypescript, lateArrow, bundlesApart(bundle.entry, sourceRoot)],
        alias: {
          // tslab asks for its own 38 MB fork of TypeScript 5.0; the session puts TypeScript 6.0 under it.
          '@tslab/typescript-for-tslab': inRoot('kernel/session/compiler/tslabTypescript.cjs'),
          'jsonc-parser': jsoncParser,
        },
      };
    case 'snapshot':
      // The one bundle with TypeScript in it: while a snapshot is made, only Node's own modules can be loaded. Short
      // names, since the text of the program is part of the snapshot.
      return {
        ...common,
        ...node,
        minify: true,
        legalComments: 'none',
        plugins: [oneTypescript],
        alias: { crypto: inRoot('kernel/session/start/notInSnapshot.ts') },
      };
    case 'worker':
      // One file that runs anywhere, so with Arrow in it: the ES module build, of which only what is used stays.
      return {
        ...common,
        platform: 'node',
        format: 'esm',
        target: 'node20',
        minify: true,
        legalComments: 'none',
        alias: { '#arrow': inRoot('node_modules/apache-arrow/Arrow.mjs') },
      };
    case 'webview':
      return { ...common, ...browser };
    case 'renderer':
      // Notebook output has no stylesheet of its own: the renderer puts the text into its shadow root.
      return { ...common, ...browser, loader: { '.css': 'text' } };
  }
}
