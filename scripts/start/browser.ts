import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { delimiter, join } from 'node:path';
import { inRoot } from '../paths.ts';
import { ensureWorkbench } from '../workbench/install.ts';
import { makeProfile, serverEnvironment, startServer, type Server } from '../workbench/server.ts';
import { recordWindowData } from './windowData.ts';

/** Starts the browser workbench with this repository as an extension. Installs the workbench the first time. */
export async function openInBrowser(options: {
  /** Folder of the private profile. */
  profile: string;
  settings: Record<string, unknown>;
  folder: string;
  port: number;
  say: (line: string) => void;
}): Promise<Server> {
  const { say, folder, port } = options;
  const workbench = await ensureWorkbench(say);
  // Recreate this folder each time, because its list of extensions contains old versions.
  rmSync(join(options.profile, 'ext'), { recursive: true, force: true });
  const profile = makeProfile(options.profile, options.settings);
  for (const extension of [inRoot(), inRoot('scripts/start/opening')]) {
    symlinkSync(extension, join(profile.extensions, extensionFolder(extension)), 'dir');
  }
  recordWindowData(options.profile, serverEnvironment(profile));
  const server = await startServer({ workbench, profile, port: port || (await lastPort(options.profile)), folder });
  writeFileSync(join(options.profile, portFile), `${server.port}\n`);
  say(`\n  Lance Catalog   ${server.address}`);
  say(`  password        ${server.password}\n`);
  openWindow(server.address);
  return server;
}

const portFile = 'port';

/**
 * Returns the port of the last window if it is free, else 0. The browser stores connections and layout by URL, so a
 * window on another port would lack them.
 */
async function lastPort(profile: string): Promise<number> {
  const path = join(profile, portFile);
  const last = existsSync(path) ? Number(readFileSync(path, 'utf8')) : 0;
  if (!Number.isInteger(last) || last < 1024 || last > 65_535) return 0;
  const probe = createServer();
  try {
    probe.listen(last, '127.0.0.1');
    await once(probe, 'listening');
    return last;
  } catch {
    return 0; // another process uses the port now
  } finally {
    probe.close();
  }
}

/** Returns `publisher.name-version`, the folder name of an installed extension. */
function extensionFolder(extension: string): string {
  const text = readFileSync(join(extension, 'package.json'), 'utf8');
  const field = (name: string): string => new RegExp(`"${name}"\\s*:\\s*"([^"]+)"`).exec(text)?.[1] ?? '';
  return `${field('publisher')}.${field('name')}-${field('version')}`;
}

/** Opens the user's browser if there is a screen. The URL is printed anyway. */
function openWindow(address: string): void {
  const opener = process.platform === 'darwin' ? 'open' : 'xdg-open';
  const hasScreen = process.platform === 'darwin' || Boolean(process.env['DISPLAY'] ?? process.env['WAYLAND_DISPLAY']);
  const isThere = (process.env['PATH'] ?? '').split(delimiter).some((folder) => existsSync(join(folder, opener)));
  if (!hasScreen || !isThere) return;
  const child = spawn(opener, [address], { stdio: 'ignore', detached: true });
  child.on('error', () => {}); // the printed URL still works
  child.unref();
}
