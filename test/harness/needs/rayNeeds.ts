import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { inRoot } from '../../../scripts/paths.ts';
import { isRoot, type Need, run, succeeds } from './installing.ts';

/** The oldest Ray that backfills support, and the newest one that was tested. */
export const rayReleases = ['2.43.0', '2.60.0'] as const;
export type RayRelease = (typeof rayReleases)[number];
export const [oldestRay, newestRay] = rayReleases;

/** Packages to read and write tables, as in a typical image for Ray. */
const packages = ['pylance==14.0.2', 'pyarrow==26.0.1'];

const folder = inRoot('.toolchain/ray');

/** Returns the Python environment of a release. */
export const rayFolder = (release: RayRelease): string => join(folder, release);

const stampOf = (release: RayRelease): string => join(rayFolder(release), 'installed');

function environment(release: RayRelease): Need {
  const wanted = [`ray[default]==${release}`, ...packages];
  return {
    title: `Ray ${release} with pylance (.toolchain/ray, about 2 minutes, once)`,
    download: release === rayReleases[0] ? 230 : 90,
    disk: 900,
    isThere: () => existsSync(stampOf(release)) && readFileSync(stampOf(release), 'utf8') === wanted.join('\n'),
    install: async (say) => {
      rmSync(rayFolder(release), { recursive: true, force: true });
      mkdirSync(folder, { recursive: true });
      say(`  installing Ray ${release} …`);
      run('python3', ['-m', 'venv', rayFolder(release)]);
      // Use one cache for all releases, because they have most packages in common.
      run(join(rayFolder(release), 'bin/python'), [
        '-m',
        'pip',
        'install',
        '--quiet',
        '--disable-pip-version-check',
        '--cache-dir',
        join(folder, 'wheels'),
        ...wanted,
      ]);
      writeFileSync(stampOf(release), wanted.join('\n'));
    },
  };
}

/**
 * Returns the flags of `unshare` that give a Ray separate network and process namespaces, so that all processes of a
 * Ray end together.
 */
export const unshareFlags = (): string[] => [
  '--net',
  '--pid',
  '--fork',
  '--kill-child',
  '--mount-proc',
  ...(isRoot() ? [] : ['--map-root-user']),
];

const namespace: Need = {
  title: 'The right to make a process namespace of its own for Ray (unshare --pid --mount-proc)',
  download: 0,
  disk: 0,
  isThere: () => succeeds('unshare', [...unshareFlags(), 'true']),
  before: () => 'the right to mount a /proc in a namespace: run as root, or in a container whose /proc is not masked',
  install: () =>
    Promise.reject(new Error('Ray starts dozens of processes, which are ended by ending their namespace: allow one.')),
};

/** A real Ray of each release. */
export const rayNeeds: readonly Need[] = [namespace, ...rayReleases.map(environment)];
