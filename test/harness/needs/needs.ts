import { existsSync, mkdirSync, readFileSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import { inRoot, toolchain } from '../../../scripts/paths.ts';
import { ensureWorkbench, findWorkbench, workbenchSize } from '../../../scripts/workbench/install.ts';
import { findChromium } from '../browser.ts';
import type { Layer } from '../layers.ts';
import { ownNetwork } from '../ownNetwork.ts';
import { duckdbNeed } from './duckdb.ts';
import { duckdbPackageNeed } from './duckdbPackage.ts';
import { apt, isRoot, type Need, run, succeeds } from './installing.ts';
import { kubeNeeds } from './kubeNeeds.ts';
import { mypyNeed } from './mypy.ts';
import { pythonClientNeeds } from './pythonClients.ts';
import { rayNeeds } from './rayNeeds.ts';

/**
 * The upstream clients and Jupyter's own programs for tests of the product, a tester of the specification, and an S3
 * server.
 */
const pythonPackages = [
  'lancedb==0.40.0',
  'pylance==14.0.2',
  'pyarrow==26.0.1',
  'jupyter_client==8.10.0',
  'jupyter_kernel_test==0.7.0',
  'nbclient==0.11.0',
  'nbformat==5.11.1',
  'ipykernel==7.4.0',
  'jupyterlab==4.6.6',
  'nbconvert==7.17.2',
  'jupyter_console==6.6.3',
  'papermill==2.7.0',
  'schemathesis==4.32.5',
  'moto[server,s3]==5.2.5',
];
const pythonFolder = inRoot('.toolchain/python');
const pythonStamp = `${pythonFolder}/installed`;

const chromium: Need = {
  title: 'Chromium (apt package chromium-headless-shell)',
  download: 95,
  disk: 290,
  isThere: () => findChromium() !== undefined,
  asRoot: true,
  install: async () => {
    try {
      apt('chromium-headless-shell');
    } catch (error) {
      if (!isRoot()) throw error;
      // Older releases of Debian have only the whole Chromium.
      apt('chromium');
    }
  },
};

const venv: Need = {
  title: 'Python 3 with venv (apt package python3-venv)',
  download: 15,
  disk: 60,
  isThere: () => succeeds('python3', ['-c', 'import ensurepip, venv']),
  asRoot: true,
  install: async () => apt('python3', 'python3-venv'),
};

const python: Need = {
  title: 'Python packages of the tests (.toolchain/python)',
  download: 340,
  disk: 1200,
  isThere: () => existsSync(pythonStamp) && readFileSync(pythonStamp, 'utf8') === pythonPackages.join('\n'),
  install: async (say) => {
    rmSync(pythonFolder, { recursive: true, force: true });
    mkdirSync(toolchain, { recursive: true });
    say('  making a Python environment and installing the upstream clients …');
    run('python3', ['-m', 'venv', pythonFolder]);
    run(`${pythonFolder}/bin/python`, [
      '-m',
      'pip',
      'install',
      '--quiet',
      '--disable-pip-version-check',
      ...pythonPackages,
    ]);
    writeFileSync(pythonStamp, pythonPackages.join('\n'));
  },
};

const workbench: Need = {
  title: 'VS Code for the browser (npm package code-server)',
  ...workbenchSize,
  isThere: () => findWorkbench() !== undefined,
  install: async (say) => void (await ensureWorkbench(say)),
};

/** The needs of each layer, in the order of installation. */
export const needsOf: Readonly<Record<Layer, readonly Need[]>> = {
  lint: [],
  unit: [],
  contract: [venv, python, mypyNeed],
  kernel: [venv, python, duckdbPackageNeed, chromium],
  host: [venv, python, chromium, workbench],
  ui: [venv, python, chromium, workbench],
  cluster: [ownNetwork, venv, python, ...kubeNeeds, ...rayNeeds, duckdbNeed, ...pythonClientNeeds],
};

/** The needs of benchmarks. */
export const benchNeeds: readonly Need[] = [venv, python];

/** Returns the needs that are missing on this machine, each once. */
export function missing(needs: readonly Need[]): Need[] {
  return [...new Set(needs)].filter((need) => !need.isThere());
}

/** Returns messages about missing needs; empty if nothing is missing. */
export function report(needs: readonly Need[]): string[] {
  if (needs.length === 0) return [];
  const sum = (pick: (need: Need) => number): number => needs.reduce((total, need) => total + pick(need), 0);
  const lines = needs.map((need) => `  ${need.title}: ${need.download} MB to download, ${need.disk} MB on disk`);
  const free = freeMegabytes();
  const disk = sum((need) => need.disk);
  lines.push(
    `  together ${sum((need) => need.download)} MB to download; ${disk} MB on disk, ${free} MB are free${free < disk ? ': TOO LITTLE' : ''}`,
  );
  if (needs.some((need) => need.asRoot === true) && !isRoot()) {
    lines.push('  apt packages are installed as root only: install those by hand first');
  }
  for (const before of new Set(needs.flatMap((need) => need.before?.() ?? [])))
    lines.push(`  first you need ${before}`);
  return lines;
}

function freeMegabytes(): number {
  const { bavail, bsize } = statfsSync(inRoot());
  return Math.floor((bavail * bsize) / 1_000_000);
}
