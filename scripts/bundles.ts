import type { BuildOptions, Plugin } from 'esbuild';
import { basename, relative, sep } from 'node:path';
import { ownGlobalNames } from '#shared/ownGlobals.ts';
import { lazyArrowPlugin } from './lazyArrowPlugin.ts';
import { inRoot, root } from './paths.ts';

/**
 * A bundle of the product. Bundles also enforce two layers: `vscode` is an external only in the extension, so an import
 * of `vscode` in kernel/ does not resolve. An import of `node:*` in webviews/ does not resolve, either (see
 * test/unit/layers.test.ts).
 */
export type Bundle = {
  /** Output files in dist/, the script first. */
  readonly outputs: readonly string[];
  /** The entry's source file, relative to the root. */
  readonly entry: string;
  readonly kind: 'extension' | 'kernel' | 'snapshot' | 'worker' | 'webview' | 'renderer' | 'chart';
};

export const bundles: readonly Bundle[] = [
  { outputs: ['extension.cjs'], entry: 'extension/extension.ts', kind: 'extension' },
  { outputs: ['typescriptPlugin.cjs'], entry: 'extension/typescriptPlugin/plugin.ts', kind: 'kernel' },
  { outputs: ['cli.cjs'], entry: 'kernel/cli.ts', kind: 'kernel' },
  { outputs: ['engine.cjs'], entry: 'kernel/engine/main.ts', kind: 'kernel' },
  { outputs: ['cluster.cjs'], entry: 'kernel/cluster/entry.ts', kind: 'kernel' },
  { outputs: ['exports.cjs'], entry: 'kernel/catalog/export/entry.ts', kind: 'kernel' },
  { outputs: ['kubeClient.cjs'], entry: 'kernel/cluster/kube/kubeClient.ts', kind: 'kernel' },
  { outputs: ['jobParts.cjs'], entry: 'kernel/jobs/entry.ts', kind: 'kernel' },
  { outputs: ['kernel.cjs'], entry: 'kernel/session/main.ts', kind: 'kernel' },
  { outputs: ['kernelCore.cjs'], entry: 'kernel/session/core/coreStart.ts', kind: 'kernel' },
  { outputs: ['kernelWorker.cjs'], entry: 'kernel/session/worker/main.ts', kind: 'kernel' },
  { outputs: ['relay.cjs'], entry: 'kernel/session/jupyter/relay/relay.ts', kind: 'kernel' },
  { outputs: ['languageWorker.cjs'], entry: 'kernel/session/analysis/main.ts', kind: 'kernel' },
  { outputs: ['sql.cjs'], entry: 'kernel/sql/child/main.ts', kind: 'kernel' },
  { outputs: ['views.cjs'], entry: 'kernel/views/main.ts', kind: 'kernel' },
  { outputs: ['kernelSnapshot.cjs'], entry: 'kernel/session/start/snapshotEntry.ts', kind: 'snapshot' },
  { outputs: ['fromSnapshot.cjs'], entry: 'kernel/session/start/fromSnapshot.ts', kind: 'kernel' },
  { outputs: ['snapshotMaker.cjs'], entry: 'kernel/session/start/makeSnapshot.ts', kind: 'kernel' },
  { outputs: ['functionWorker.mjs'], entry: 'kernel/jobs/worker/main.ts', kind: 'worker' },
  { outputs: ['launcher.cjs'], entry: 'kernel/session/kernelspecs/launcher.ts', kind: 'kernel' },
  { outputs: ['job.cjs'], entry: 'kernel/jobs/process/main.ts', kind: 'kernel' },
  { outputs: ['jobs.cjs'], entry: 'kernel/jobs/editor/main.ts', kind: 'kernel' },
  { outputs: ['table.js', 'table.css'], entry: 'webviews/table/main.ts', kind: 'webview' },
  { outputs: ['gridDetail.js'], entry: 'webviews/grid/detail/detailView.ts', kind: 'renderer' },
  { outputs: ['gridColumns.js'], entry: 'webviews/grid/columns/columnListView.ts', kind: 'renderer' },
  { outputs: ['gridGallery.js'], entry: 'webviews/grid/gallery/galleryView.ts', kind: 'renderer' },
  { outputs: ['tableParts.js'], entry: 'webviews/table/tableParts.ts', kind: 'renderer' },
  { outputs: ['jobPage.js', 'jobPage.css'], entry: 'webviews/jobs/page/main.tsx', kind: 'webview' },
  { outputs: ['renderer.js'], entry: 'webviews/renderer/main.ts', kind: 'renderer' },
  { outputs: ['jobRenderer.js'], entry: 'webviews/jobs/output/main.tsx', kind: 'renderer' },
  { outputs: ['vegaRenderer.js'], entry: 'webviews/charts/vega.ts', kind: 'chart' },
  { outputs: ['plotlyRenderer.js'], entry: 'webviews/charts/plotly.ts', kind: 'chart' },
];

/** Folder of Python files that are shipped unchanged, because they need no bundler and users may read them. */
export const pythonFolder = 'kernel/jobs/driver';

/** The script that kernelspecs start on systems with a shell. The script is shipped unchanged. */
export const shellLauncher = 'kernel/session/kernelspecs/launcher.sh';

/**
 * Packages that stay in node_modules. Packages with native code can't be bundled (esbuild is a program next to its
 * module). apache-arrow and TypeScript must not be bundled, because two copies of either in one process fail without an
 * error (unreadable streams; type checkers with incompatible nodes). parquet-wasm and Photon read a file next to their
 * module.
 */
export const runtimePackages = [
  '@duckdb/node-api',
  '@duckdb/node-bindings',
  'apache-arrow',
  '@lancedb/lancedb',
  '@silvia-odwyer/photon-node',
  'esbuild',
  'parquet-wasm',
  'typescript-6',
  'zeromq',
] as const;

/** Replaces `import.meta` of ES modules in CommonJS bundles with Node's variables. */
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
 * Shares one TypeScript module between all files of a bundle. Without this, esbuild copies the 2,700 exports of the
 * CommonJS module for each importer; thirty copies take 0.1 s and a dozen megabytes.
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
 * Source files that are separate bundles, loaded on demand: exports, cloud libraries, the Kubernetes client, backfills, the
 * detail pane, the list of columns and the gallery of the grid, and the parts of the table panel that most tables never show.
 */
export const apart: Readonly<Record<string, string>> = {
  'kernel/catalog/export/entry.ts': './exports.cjs',
  'kernel/cluster/entry.ts': './cluster.cjs',
  'kernel/cluster/kube/kubeClient.ts': './kubeClient.cjs',
  'kernel/jobs/entry.ts': './jobParts.cjs',
  'webviews/grid/detail/detailView.ts': './gridDetail.js',
  'webviews/grid/columns/columnListView.ts': './gridColumns.js',
  'webviews/grid/gallery/galleryView.ts': './gridGallery.js',
  'webviews/table/tableParts.ts': './tableParts.js',
};

/**
 * Makes an import of a file in `apart` load the file's bundle. A static import of such a file fails the build, because
 * it would silently copy megabytes into another bundle.
 */
const bundlesApart = (entry: string, sourceRoot: string): Plugin => ({
  name: 'bundles-apart',
  setup(build) {
    const names = new Set(Object.keys(apart).map((file) => basename(file)));
    build.onResolve({ filter: /^[#.].*\.ts$/ }, async ({ path, kind, importer, resolveDir, pluginData }) => {
      // Return nothing for the resolve call below, because that call triggers this callback again.
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
  // Without the `node` condition #arrow is the ES module build, which supports tree shaking.
  conditions: ['browser', 'production'],
  define: { 'process.env.NODE_ENV': '"production"' },
};

/** The ES module entry of jsonc-parser. Bundlers can't follow how the package's Node entry requires the other files. */
const jsoncParser = inRoot('node_modules/jsonc-parser/lib/esm/main.js');

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
        plugins: [lazyArrowPlugin, bundlesApart(bundle.entry, sourceRoot)],
        alias: { 'jsonc-parser': jsoncParser },
      };
    case 'kernel':
      return {
        ...common,
        ...node,
        banner: { js: `${importMeta.banner?.['js'] ?? ''}\n${takeGlobals}` },
        external: [...runtimePackages],
        // Use `require` instead of `import()`. If an interrupt terminates the evaluation of a module, the promise of
        // `import()` never settles in Node.
        supported: { 'dynamic-import': false },
        plugins: [oneTypescript, lazyArrowPlugin, bundlesApart(bundle.entry, sourceRoot)],
        alias: {
          // tslab requires its own 38 MB fork of TypeScript 5.0; the session provides TypeScript 6.0 instead.
          '@tslab/typescript-for-tslab': inRoot('kernel/session/compiler/tslabTypescript.cjs'),
          'jsonc-parser': jsoncParser,
        },
      };
    case 'snapshot':
      // This bundle alone contains TypeScript, because a snapshot can load only Node's own modules while it is created.
      // The bundle is minified, because its text is part of the snapshot.
      return {
        ...common,
        ...node,
        minify: true,
        legalComments: 'none',
        plugins: [oneTypescript],
        alias: { crypto: inRoot('kernel/session/start/notInSnapshot.ts') },
      };
    case 'worker':
      // This bundle must work as a single file, so it contains Arrow (the ES module build, for tree shaking).
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
      return { ...common, ...browser, plugins: [bundlesApart(bundle.entry, sourceRoot)] };
    case 'renderer':
      // Bundle CSS as text: notebook output has no stylesheet, so the renderer inserts the text into its shadow root.
      return {
        ...common,
        ...browser,
        loader: { '.css': 'text' },
        plugins: [bundlesApart(bundle.entry, sourceRoot)],
      };
    case 'chart':
      return {
        ...common,
        ...browser,
        // Chart libraries load addresses that a notebook names, so this bundle refuses all requests of these libraries.
        inject: [inRoot('webviews/charts/refusedRequests.ts')],
        define: {
          ...browser.define,
          PlotlyGeoAssets: 'globalThis.chartGeoAssets',
          'window.PlotlyGeoAssets': 'globalThis.chartGeoAssets',
        },
      };
  }
}
