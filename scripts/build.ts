import { build, formatMessages, type Metafile } from 'esbuild';
import { createHash } from 'node:crypto';
import { copyFileSync, existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { apart, bundleOptions, bundles, pythonFolder, shellLauncher } from './bundles.ts';
import { inRoot } from './paths.ts';
import { buildTypes, typesEntry } from './types.ts';

const stamp = inRoot('dist/.built');
const sources = ['kernel', 'extension', 'webviews', 'scripts', 'package.json', 'tsconfig.base.json'];

/**
 * Builds everything in dist/. Continues after a failure, so that all failures are reported.
 * @returns the number of parts that failed
 */
export async function buildAll(say: (line: string) => void): Promise<number> {
  const started = Date.now();
  mkdirSync(inRoot('dist'), { recursive: true });
  const made: Record<string, BundleContents> = {};
  const reports = await Promise.all(
    bundles.map(async (bundle): Promise<string | undefined> => {
      if (!existsSync(inRoot(bundle.entry)))
        return `${bundle.entry} does not exist, so dist/${bundle.outputs[0] ?? ''} was not built`;
      try {
        const { warnings, metafile } = await build({ ...bundleOptions(bundle), metafile: true });
        made[bundle.outputs[0] ?? ''] = contentsOf(metafile);
        for (const line of await formatMessages(warnings, { kind: 'warning' })) say(line.trimEnd());
        return undefined;
      } catch (error) {
        return error instanceof Error ? error.message : String(error);
      }
    }),
  );
  for (const name of pythonFiles()) copyFileSync(inRoot(pythonFolder, name), inRoot('dist', name));
  copyFileSync(inRoot(shellLauncher), inRoot('dist/launcher.sh'));
  reports.push(typesReport());
  writeSnapshotKey();
  const failures = reports.filter((report) => report !== undefined);
  for (const failure of failures) say(failure);
  mkdirSync(inRoot('out'), { recursive: true });
  writeFileSync(inRoot(contentsFile), JSON.stringify(made, undefined, 1));
  if (failures.length === 0) writeFileSync(stamp, new Date().toISOString());
  const seconds = ((Date.now() - started) / 1000).toFixed(1);
  say(`built ${reports.length - failures.length} of ${reports.length} parts of dist/ in ${seconds} s`);
  return failures.length;
}

/** A JSON file with the contents of the last build's bundles. A test compares them with the expected contents. */
export const contentsFile = 'out/bundles.json';

/** Size of a bundle's script in bytes, its source files, and the bundles that it loads on demand. */
export type BundleContents = { bytes: number; inputs: string[]; apart: string[] };

function contentsOf({ inputs, outputs }: Metafile): BundleContents {
  const [script] = Object.entries(outputs).filter(([path]) => /\.[cm]?js$/.test(path));
  const loaded = script?.[1].imports.map(({ path }) => path) ?? [];
  return {
    bytes: script?.[1].bytes ?? 0,
    inputs: Object.keys(inputs).toSorted(),
    apart: [...new Set(loaded.filter((path) => Object.values(apart).includes(path)))].toSorted(),
  };
}

const pythonFiles = (): string[] => readdirSync(inRoot(pythonFolder)).filter((name) => name.endsWith('.py'));

const snapshotScripts = ['kernelSnapshot.cjs', 'snapshotMaker.cjs', 'fromSnapshot.cjs'] as const;

/** Writes a hash of the inputs of the kernel's start-up snapshot. Every start of a kernel compares this hash. */
function writeSnapshotKey(): void {
  const types = readdirSync(inRoot('dist/types'), { recursive: true, encoding: 'utf8' }).toSorted();
  const hash = createHash('sha256');
  for (const file of [...snapshotScripts, ...types.map((name) => join('types', name))]) {
    const path = inRoot('dist', file);
    if (statSync(path, { throwIfNoEntry: false })?.isFile()) hash.update(file).update(readFileSync(path));
  }
  writeFileSync(inRoot('dist/kernelSnapshot.key'), hash.digest('hex'));
}

function typesReport(): string | undefined {
  const errors = buildTypes();
  if (errors !== undefined) return errors;
  return existsSync(inRoot(typesEntry))
    ? undefined
    : `${typesEntry} was not built: kernel/session/preload.ts is missing`;
}

/** Returns whether a source is newer than the last successful build. */
export function isStale(): boolean {
  if (!existsSync(stamp)) return true;
  const built = statSync(stamp).mtimeMs;
  if (bundles.some((bundle) => bundle.outputs.some((file) => !existsSync(inRoot('dist', file))))) return true;
  if (!existsSync(inRoot(contentsFile))) return true;
  if ([...pythonFiles(), 'launcher.sh'].some((name) => !existsSync(inRoot('dist', name)))) return true;
  return sources.some((path) => newest(inRoot(path)) > built);
}

function newest(path: string): number {
  if (!existsSync(path)) return 0;
  const own = statSync(path);
  if (!own.isDirectory()) return own.mtimeMs;
  return Math.max(own.mtimeMs, ...readdirSync(path).map((name) => newest(join(path, name))));
}

/** `npm run build`. Returns the exit code. */
export async function main(): Promise<number> {
  return (await buildAll(console.log)) === 0 ? 0 : 1;
}

if (import.meta.main) process.exitCode = await main();
