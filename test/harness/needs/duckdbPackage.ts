import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { inRoot } from '../../../scripts/paths.ts';
import { type Need, run } from './installing.ts';
import { python } from './python.ts';

/** The version of the engine in `@duckdb/node-api`. */
const wanted = 'duckdb==1.5.6';
const folder = inRoot('.toolchain/duckdbPackage');
const stamp = `${folder}/installed`;

/**
 * DuckDB's Python package, whose results are compared with those of the product. It is apart from DuckDB with its Lance
 * extension, which is larger and needs an older version.
 */
export const duckdbPackageNeed: Need = {
  title: "DuckDB's Python package (.toolchain/duckdbPackage)",
  download: 22,
  disk: 60,
  isThere: () => existsSync(stamp) && readFileSync(stamp, 'utf8') === wanted,
  install: async (say) => {
    say("  installing DuckDB's Python package …");
    rmSync(folder, { recursive: true, force: true });
    const quiet = ['--quiet', '--disable-pip-version-check', '--no-deps'];
    run(python(), ['-m', 'pip', 'install', ...quiet, '--target', folder, wanted]);
    writeFileSync(stamp, wanted);
  },
};

/** Variables with which the Python of the tests finds the package. */
export const duckdbPackageEnv = { PYTHONPATH: folder } as const;
