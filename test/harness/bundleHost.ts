import { build } from 'esbuild';
import { readdirSync, rmSync } from 'node:fs';
import { bundleOptions, runtimePackages } from '../../scripts/bundles.ts';
import { inRoot } from '../../scripts/paths.ts';

/**
 * Bundles the host suites into out/host, because the extension host loads only CommonJS. Each bundle is independent.
 * @param alone the suites to bundle, by their paths in test/host (default: all)
 * @returns the path of the entry for `extensionTestsPath`
 */
export async function bundleHostTests(alone: readonly string[] = []): Promise<string> {
  const outdir = inRoot('out/host');
  rmSync(outdir, { recursive: true, force: true });
  const all = readdirSync(inRoot('test/host'), { recursive: true, encoding: 'utf8' });
  const suites = alone.length > 0 ? alone : all.filter((name) => name.endsWith('.test.ts'));
  if (suites.length === 0) throw new Error('test/host holds no *.test.ts file.');
  const { outfile: _, entryPoints: __, ...options } = bundleOptions({ outputs: [], entry: '', kind: 'extension' });
  await build({
    ...options,
    entryPoints: {
      index: 'test/harness/hostIndex.ts',
      ...Object.fromEntries(suites.map((name) => [name.replace(/\.ts$/, ''), `test/host/${name}`])),
    },
    outdir,
    outExtension: { '.js': '.cjs' },
    external: ['vscode', 'mocha', ...runtimePackages],
    sourcemap: 'inline',
  });
  return inRoot('out/host/index.cjs');
}
