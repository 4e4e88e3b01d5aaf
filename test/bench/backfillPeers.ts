import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { inRoot } from '../../scripts/paths.ts';
import { type Need, run } from '../harness/needs/installing.ts';
import { python } from '../harness/needs/python.ts';
import { newestRay, unshareFlags } from '../harness/needs/rayNeeds.ts';
import { tempFolder } from '../harness/temp.ts';
import { answerOf } from './processes.ts';

const folder = inRoot('.toolchain/bench-ray');
const stamp = join(folder, 'installed');
const packages = [`ray[data]==${newestRay}`, 'pylance==14.0.2', 'pyarrow==26.0.1', 'lance-ray==0.5.0'];

export const lanceRayNeed: Need = {
  title: 'lance-ray, to compare backfills with (.toolchain/bench-ray)',
  download: 120,
  disk: 1000,
  isThere: () => existsSync(stamp) && readFileSync(stamp, 'utf8') === packages.join('\n'),
  install: async (say) => {
    rmSync(folder, { recursive: true, force: true });
    mkdirSync(inRoot('.toolchain'), { recursive: true });
    say('  installing lance-ray …');
    run('python3', ['-m', 'venv', folder]);
    const cache = inRoot('.toolchain/ray/wheels');
    const pip = ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', '--cache-dir', cache];
    run(join(folder, 'bin/python'), [...pip, ...packages]);
    writeFileSync(stamp, packages.join('\n'));
  },
};

/** Returns the folder of lance-ray's packages, for a Ray of the same release. */
export function lanceRayPackages(): string {
  const lib = join(folder, 'lib');
  const version = readdirSync(lib).find((name) => name.startsWith('python3'));
  return join(lib, version ?? 'python3', 'site-packages');
}

const script = inRoot('test/bench/python/backfillPeers.py');

/** Calls one of the peers in a separate process. */
export const callPeer = (call: 'make' | 'pylance' | 'wrong', args: object): Promise<unknown> =>
  answerOf(python(), [script, call, JSON.stringify(args)]);

/** Runs lance-ray with its own Ray in separate network and process namespaces, because Ray listens on every address. */
export const callLanceRay = (args: object): Promise<unknown> =>
  answerOf(
    'unshare',
    [
      ...unshareFlags(),
      'sh',
      '-c',
      'ip link set lo up && exec "$0" "$@"',
      join(folder, 'bin/python'),
      script,
      'lance_ray',
      JSON.stringify(args),
    ],
    // Use another home directory. A new Ray saves a token in the home directory, and then all other Rays of the user
    // would require that token.
    { env: { ...process.env, HOME: tempFolder('lance-bench-'), RAY_AUTH_MODE: 'disabled' } },
  );
