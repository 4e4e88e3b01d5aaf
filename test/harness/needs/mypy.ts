import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { inRoot } from '../../../scripts/paths.ts';
import { type Need, run } from './installing.ts';
import { python } from './python.ts';

const wanted = 'mypy==2.4.1';
const folder = inRoot('.toolchain/mypy');
const stamp = `${folder}/installed`;

/**
 * Checks the types of the Python driver. mypy has its own environment, so that a new mypy version does not reinstall
 * the Python of the tests.
 */
export const mypyNeed: Need = {
  title: 'mypy, which checks types of the Python driver (.toolchain/mypy)',
  download: 16,
  disk: 70,
  isThere: () => existsSync(stamp) && readFileSync(stamp, 'utf8') === wanted,
  install: async (say) => {
    say('  installing mypy …');
    rmSync(folder, { recursive: true, force: true });
    const args = ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', '--target', folder, wanted];
    run(python(), args);
    writeFileSync(stamp, wanted);
  },
};

/** Arguments and environment with which the Python of the tests runs mypy; its cache is kept. */
export const mypy = {
  args: ['-m', 'mypy', '--config-file', inRoot('test/contract/python/mypy.ini'), '--cache-dir', `${folder}/cache`],
  env: { PYTHONPATH: folder },
} as const;
