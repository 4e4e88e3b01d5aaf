import { spawn } from 'node:child_process';
import { existsSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { inRoot } from '../paths.ts';
import { ensureWorkbench } from '../workbench/install.ts';
import { makeProfile, startServer, type Server } from '../workbench/server.ts';

/** Starts the browser workbench with this repository as its one extension. Installs it the first time. */
export async function openInBrowser(options: {
  /** Folder of the private profile. */
  profile: string;
  settings: Record<string, unknown>;
  folder: string;
  file: string;
  port: number;
  say: (line: string) => void;
}): Promise<Server> {
  const { say, folder, file, port } = options;
  const workbench = await ensureWorkbench(say);
  // Made anew each time: the list of extensions in it remembers versions that are gone.
  rmSync(join(options.profile, 'ext'), { recursive: true, force: true });
  const profile = makeProfile(options.profile, options.settings);
  symlinkSync(inRoot(), join(profile.extensions, extensionFolder()), 'dir');
  const server = await startServer({ workbench, profile, port, folder });
  say(`\n  Lance Catalog   ${server.address}`);
  say(`  password        ${server.password}\n`);
  const payload = JSON.stringify([['openFile', `vscode-remote://127.0.0.1:${server.port}${encodePath(file)}`]]);
  openWindow(`${server.address}/?${new URLSearchParams({ folder, payload }).toString()}`);
  return server;
}

/** A path as part of an address: `#`, `?` and `%` in the name of a folder are no syntax. */
const encodePath = (path: string): string => path.split('/').map(encodeURIComponent).join('/');

/** `publisher.name-version`, the form in which an extensions folder keeps an extension. */
function extensionFolder(): string {
  const text = readFileSync(inRoot('package.json'), 'utf8');
  const field = (name: string): string => new RegExp(`"${name}"\\s*:\\s*"([^"]+)"`).exec(text)?.[1] ?? '';
  return `${field('publisher')}.${field('name')}-${field('version')}`;
}

/** Opens the person's browser where there is one and a screen; the address is printed in any case. */
function openWindow(address: string): void {
  const opener = process.platform === 'darwin' ? 'open' : 'xdg-open';
  const hasScreen = process.platform === 'darwin' || Boolean(process.env['DISPLAY'] ?? process.env['WAYLAND_DISPLAY']);
  const isThere = (process.env['PATH'] ?? '').split(delimiter).some((folder) => existsSync(join(folder, opener)));
  if (!hasScreen || !isThere) return;
  const child = spawn(opener, [address], { stdio: 'ignore', detached: true });
  child.on('error', () => {}); // the printed address still works
  child.unref();
}
