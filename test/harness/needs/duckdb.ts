import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { inRoot } from '../../../scripts/paths.ts';
import { type Need, run } from './installing.ts';

const wanted = ['duckdb==1.5.5', 'duckdb-extension-lance==1.5.5', 'pyarrow==26.0.1'];
const folder = inRoot('.toolchain/duckdb');
const stamp = join(folder, 'installed');

/** The Python with DuckDB and its Lance extension. */
export const duckdbPython = join(folder, 'bin/python');

export const duckdbNeed: Need = {
  title: 'DuckDB with its Lance extension (.toolchain/duckdb)',
  download: 180,
  disk: 500,
  isThere: () => existsSync(stamp) && readFileSync(stamp, 'utf8') === wanted.join('\n'),
  install: async (say) => {
    rmSync(folder, { recursive: true, force: true });
    mkdirSync(dirname(folder), { recursive: true });
    say('  installing DuckDB and its Lance extension …');
    run('python3', ['-m', 'venv', folder]);
    run(duckdbPython, ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', ...wanted]);
    writeFileSync(stamp, wanted.join('\n'));
  },
};
