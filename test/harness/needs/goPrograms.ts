import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { basename, join } from 'node:path';
import { inRoot } from '../../../scripts/paths.ts';
import { type Need, run } from './installing.ts';

// Builds programs of Kubernetes and its tools, because the Go module proxy has only sources.

/** The oldest Go version, as in README. */
export const oldestGo = [1, 26] as const;

/**
 * Folder in which programs of the cluster tests are kept between runs. Set another folder to test a machine without
 * them.
 */
export const kubeFolder = process.env['LANCE_TEST_KUBE'] ?? inRoot('.toolchain/kube');

/** A program built with Go. */
export type GoProgram = {
  readonly name: string;
  readonly version: string;
  /** The files of the program's module, below test/cluster/parts. They pin the versions of all dependencies. */
  readonly files: readonly string[];
  /** The package to build, which the module requires (default: the module's own main.go). */
  readonly of?: string;
  readonly ldflags?: readonly string[];
};

const partOf = (file: string): string => inRoot('test/cluster/parts', file);

/**
 * Returns the path of a built program. The path contains a hash of the sources, so that a program from other sources is
 * not used.
 */
export function pathOf({ name, version, files }: GoProgram): string {
  const stamp = createHash('sha256').update(version);
  for (const file of files) stamp.update(readFileSync(partOf(file)));
  return join(kubeFolder, `${name}-${version}-${stamp.digest('hex').slice(0, 12)}`);
}

/** Returns a `Need` for a program. `title` contains the time to build the program on two processors. */
export const needOf = (program: GoProgram, need: Pick<Need, 'title' | 'download' | 'disk'>): Need => ({
  ...need,
  isThere: () => existsSync(pathOf(program)),
  before: askForGo,
  install: async (say) => build(program, say),
});

export function build(program: GoProgram, say: (line: string) => void): void {
  const go = requireGo();
  mkdirSync(kubeFolder, { recursive: true });
  const work = mkdtempSync(join(kubeFolder, 'build-'));
  try {
    for (const file of program.files) copyFileSync(partOf(file), join(work, basename(file)));
    say(`  building ${program.name} ${program.version} …`);
    const flags = ['-s', '-w', ...(program.ldflags ?? [])].join(' ');
    // If the package is in another module, allow Go to change go.mod: no file of ours imports that module, so Go would
    // report that go.mod lists too much.
    const mode = program.of === undefined ? [] : ['-mod=mod'];
    const args = ['build', ...mode, '-trimpath', '-ldflags', flags, '-o', 'program', program.of ?? '.'];
    run(go, args, { cwd: work, env: { ...process.env, CGO_ENABLED: '0', GOWORK: 'off' } });
    renameSync(join(work, 'program'), pathOf(program));
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}

/** Downloads a Go module. @returns its folder, which must not be changed */
export function moduleFolder(module: string): string {
  // Run this outside of any module, because no module here depends on the downloaded module.
  const { Dir: dir } = JSON.parse(run(requireGo(), ['mod', 'download', '-json', module], { cwd: '/' })) as {
    Dir: string;
  };
  return dir;
}

const getGo = `Go ${oldestGo.join('.')} or newer on PATH, from https://go.dev/dl/ (Debian 12's golang package is older)`;

export function askForGo(): string | undefined {
  return findGo() === undefined ? getGo : undefined;
}

function requireGo(): string {
  const go = findGo();
  if (go === undefined) throw new Error(`There is no Go that is new enough: put ${getGo}.`);
  return go;
}

/** Returns a Go that is new enough: on PATH, or in the usual folder of its archive. */
function findGo(): string | undefined {
  return [...onPath('go'), '/usr/local/go/bin/go'].find((path) => {
    const { status, stdout } = spawnSync(path, ['env', 'GOVERSION'], { encoding: 'utf8' });
    const [major = 0, minor = 0] =
      /^go(\d+)\.(\d+)/
        .exec(stdout ?? '')
        ?.slice(1)
        .map(Number) ?? [];
    return status === 0 && (major > oldestGo[0] || (major === oldestGo[0] && minor >= oldestGo[1]));
  });
}

/** Returns the files with this name in the folders of PATH. */
export function onPath(program: string): string[] {
  const folders = (process.env['PATH'] ?? '').split(':').filter((entry) => entry.startsWith('/'));
  return folders.map((entry) => join(entry, program)).filter((path) => existsSync(path));
}
