import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { build } from 'esbuild';
import { contentsFile, type BundleContents } from '../../scripts/build.ts';
import { apart, bundleOptions, bundles } from '../../scripts/bundles.ts';
import { inRoot } from '../../scripts/paths.ts';
import { tempFolder } from '../harness/temp.ts';

/** The expected content of a bundle: our files by folder, packages, and bundles that it loads on demand. */
type BundleRecord = { bytes: number; files: number; folders: string[]; packages: string[]; apart: string[] };

const recordFile = join(import.meta.dirname, 'bundles.json');
const mayUpdate = process.env['UPDATE_BUNDLES'] === '1';

/** Returns the maximum size of a bundle, given its recorded size. If a bundle is larger, the record must be updated. */
const room = { bytes: (bytes: number) => bytes * 1.02 + 2048, files: (files: number) => files * 1.02 + 2 };

const packageOf = (path: string): string => {
  const [scope = '', name = ''] = (path.split('node_modules/').at(-1) ?? '').split('/');
  return scope.startsWith('@') ? `${scope}/${name}` : scope;
};

const unique = (texts: readonly string[]): string[] => [...new Set(texts)].toSorted();

function recordOf({ bytes, inputs, apart: loaded }: BundleContents): BundleRecord {
  const own = inputs.filter((path) => !path.includes('node_modules/') && existsSync(inRoot(path)));
  return {
    bytes,
    files: own.length,
    folders: unique(own.map((path) => dirname(path))),
    packages: unique(inputs.filter((path) => path.includes('node_modules/')).map((path) => packageOf(path))),
    apart: loaded,
  };
}

const readJson = (path: string): unknown => JSON.parse(readFileSync(path, 'utf8'));

/** Builds a bundle of the command line in a folder with a small file instead of each separate bundle. */
async function bundleWith(entry: string, text: string): Promise<string> {
  const root = tempFolder();
  const files = {
    ...Object.fromEntries(Object.keys(apart).map((file) => [file, 'export const big = 1;'])),
    [entry]: text,
  };
  for (const [file, content] of Object.entries(files)) {
    mkdirSync(dirname(join(root, file)), { recursive: true });
    writeFileSync(join(root, file), content);
  }
  const manifest = { name: 'x', type: 'module', imports: { '#cluster/*.ts': './kernel/cluster/*.ts' } };
  writeFileSync(join(root, 'package.json'), JSON.stringify(manifest));
  const options = bundleOptions({ outputs: ['x.cjs'], entry, kind: 'kernel' }, root);
  const { outputFiles } = await build({ ...options, write: false });
  return outputFiles[0]!.text;
}

suite('The bundles', () => {
  const contents = readJson(inRoot(contentsFile)) as Record<string, BundleContents>;
  const found = Object.fromEntries(Object.entries(contents).map(([name, one]) => [name, recordOf(one)]));
  const sorted = Object.fromEntries(Object.entries(found).toSorted(([a], [b]) => (a < b ? -1 : 1)));
  if (mayUpdate) writeFileSync(recordFile, `${JSON.stringify(sorted, undefined, 2)}\n`);
  const recorded = readJson(recordFile) as Record<string, BundleRecord>;

  test('are those of the record', () => {
    assert.deepEqual(Object.keys(found).toSorted(), Object.keys(recorded).toSorted());
    assert.deepEqual(Object.keys(found).toSorted(), bundles.map(({ outputs }) => outputs[0]!).toSorted());
  });

  for (const [name, expected] of Object.entries(recorded)) {
    // A developer decides about a new folder or package in a bundle: run with UPDATE_BUNDLES=1 and read the difference.
    test(`${name} holds the folders and packages of the record, and is not much larger`, () => {
      const { bytes, files, ...parts } = found[name]!;
      const { bytes: mostBytes, files: mostFiles, ...expectedParts } = expected;
      assert.deepEqual(parts, expectedParts);
      assert.ok(files <= room.files(mostFiles), `${files} files, recorded ${mostFiles}`);
      assert.ok(bytes <= room.bytes(mostBytes), `${bytes} bytes, recorded ${mostBytes}`);
    });
  }

  test('that are apart start from files that exist, and are loaded by another bundle', () => {
    for (const [file, bundle] of Object.entries(apart)) {
      assert.ok(existsSync(inRoot(file)), file);
      assert.ok(
        bundles.some(({ entry, outputs }) => entry === file && `./${outputs[0]}` === bundle),
        file,
      );
      assert.ok(
        Object.values(found).some((one) => one.apart.includes(bundle)),
        `no bundle loads ${bundle}`,
      );
    }
  });

  for (const specifier of ['#cluster/kube/kubeClient.ts', './kubeClient.ts', '../kube/kubeClient.ts']) {
    test(`load a part that is apart as its bundle, imported as ${specifier}`, async () => {
      const text = await bundleWith('kernel/cluster/kube/reader.ts', `console.log(import('${specifier}'));`);
      assert.match(text, /require\("\.\/kubeClient\.cjs"\)/);
      assert.doesNotMatch(text, /big/);
    });

    test(`can't be built where a part that is apart is imported statically, as ${specifier}`, async () => {
      const building = bundleWith(
        'kernel/cluster/kube/reader.ts',
        `import { big } from '${specifier}';\nconsole.log(big);`,
      );
      await assert.rejects(building, /Can't import "kernel\/cluster\/kube\/kubeClient\.ts" statically/);
    });
  }
});
