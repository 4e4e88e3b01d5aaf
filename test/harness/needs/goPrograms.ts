import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { basename, join } from 'node:path';
import { inRoot } from '../../../scripts/paths.ts';
import { type Need, run } from './installing.ts';

// Programs of Kubernetes and of what goes with it are built here, since the module proxy of Go serves sources alone.

/** As README names it. */
export const oldestGo = [1, 26] as const;

/** Where programs of the cluster tests are kept between runs; another folder to see what a machine without them does. */
export const kubeFolder = process.env['LANCE_TEST_KUBE'] ?? inRoot('.toolchain/kube');

/** A program that is built by Go. */
export type GoProgram = {
  readonly name: string;
  readonly version: string;
  /** Files of the module that it is built in, below test/cluster/parts: versions of all that is in it are pinned there. */
  readonly files: readonly string[];
  /** What is built: a package that the module requires; the module's own main.go where nothing is said. */
  readonly of?: string;
  readonly ldflags?: readonly string[];
};

const partOf = (file: string): string => inRoot('test/cluster/parts', file);

/** The name of a built program holds what it was built from, so that one of other sources is not taken for it. */
export function pathOf({ name, version, files }: GoProgram): string {
  const stamp = createHash('sha256').update(version);
  for (const file of files) stamp.update(readFileSync(partOf(file)));
  return join(kubeFolder, `${name}-${version}-${stamp.digest('hex').slice(0, 12)}`);
}

/** What a layer needs where it needs a program, with how long it takes on two processors in its title. */
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
    // No file of ours imports what is built of another module, so that its own go.mod seems to list too much.
    const mode = program.of === undefined ? [] : ['-mod=mod'];
    const args = ['build', ...mode, '-trimpath', '-ldflags', flags, '-o', 'program', program.of ?? '.'];
    run(go, args, { cwd: work, env: { ...process.env, CGO_ENABLED: '0', GOWORK: 'off' } });
    renameSync(join(work, 'program'), pathOf(program));
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}

/** Fetches a module of Go. @returns its folder, which is not to be changed */
export function moduleFolder(module: string): string {
  // Outside of any module: it is not a dependency of one.
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

/** A Go that is new enough: on PATH, or where its archive is unpacked as its page says. */
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

/** The files of this name in the folders of PATH. */
export function onPath(program: string): string[] {
  const folders = (process.env['PATH'] ?? '').split(':').filter((entry) => entry.startsWith('/'));
  return folders.map((entry) => join(entry, program)).filter((path) => existsSync(path));
}
