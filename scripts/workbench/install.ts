import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { npm, quietInstall } from '../npm.mjs';
import { toolchain } from '../paths.ts';

/**
 * The browser build of VS Code for the tests, and for `npm start` without a desktop VS Code. code-server 4.139 is VS
 * Code 1.139.
 */
const workbenchVersion = '4.139.1';
/** Measured download and disk size, in MB. */
export const workbenchSize = { download: 205, disk: 490 } as const;

const folder = join(toolchain, 'workbench');
const stamp = join(folder, 'installed');

export type Workbench = { readonly dir: string; readonly entry: string };

export function findWorkbench(): Workbench | undefined {
  if (!existsSync(stamp) || readFileSync(stamp, 'utf8') !== workbenchVersion) return undefined;
  const dir = join(folder, 'node_modules/code-server');
  return { dir, entry: join(dir, 'out/node/entry.js') };
}

/**
 * Installs the workbench from the npm registry if it is missing. Runs no install scripts, because native parts are
 * prebuilt. Instead, this function itself runs the two nested installs that code-server's install script would run.
 */
export async function ensureWorkbench(say: (line: string) => void): Promise<Workbench> {
  const present = findWorkbench();
  if (present) return present;
  const { download, disk } = workbenchSize;
  say(
    `VS Code for the browser (code-server ${workbenchVersion}) is not installed yet: about ${download} MB to download, ${disk} MB on disk.`,
  );
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'package.json'), '{"private":true}\n');
  const server = join(folder, 'node_modules/code-server');
  const vscode = join(server, 'lib/vscode');
  await phase(say, '1 of 3: the server', () =>
    npm(['install', `code-server@${workbenchVersion}`, '--prefix', folder, '--engine-strict=false', ...quietInstall], {
      cwd: folder,
      quiet: true,
    }),
  );
  for (const [title, dir] of [
    ['2 of 3: the editor', vscode],
    ['3 of 3: its built-in extensions', join(vscode, 'extensions')],
  ] as const) {
    await phase(say, title, () =>
      npm(['install', '--omit=dev', '--prefix', dir, ...quietInstall], { cwd: dir, quiet: true }),
    );
  }
  // Delete the runtime of an AI assistant, because its more than 200 MB are not used here.
  rmSync(join(vscode, 'node_modules/@github'), { recursive: true, force: true });
  writeFileSync(stamp, workbenchVersion);
  return { dir: server, entry: join(server, 'out/node/entry.js') };
}

/** Runs one step of the install and prints every ten seconds that it is still running. */
async function phase(say: (line: string) => void, title: string, work: () => Promise<unknown>): Promise<void> {
  const started = Date.now();
  const seconds = (): string => `${Math.round((Date.now() - started) / 1000)} s`;
  say(`  ${title} …`);
  const ticker = setInterval(() => say(`  ${title} … ${seconds()}`), 10_000);
  try {
    await work();
    say(`  ${title}: done in ${seconds()}`);
  } finally {
    clearInterval(ticker);
  }
}
