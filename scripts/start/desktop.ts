import { spawn, type ChildProcess } from 'node:child_process';
import { existsSync, readFileSync, readdirSync, realpathSync } from 'node:fs';
import { homedir } from 'node:os';
import { basename, delimiter, dirname, join } from 'node:path';
import { inRoot } from '../paths.ts';
import { trackProcessGroup } from '../processes.ts';

/** A desktop VS Code or VSCodium: its executable, and its version if readable. */
export type Desktop = { readonly path: string; readonly version: string | undefined };

/** The oldest VS Code that package.json's `engines` accepts. */
const oldest = [1, 106] as const;

/**
 * Finds a desktop VS Code: on PATH first, then in the usual locations of the system. Returns the application's
 * executable, because the `code` command passes the window to a process that this script can't end.
 */
export function findDesktop(): Desktop | undefined {
  const hasScreen = process.platform !== 'linux' || Boolean(process.env['DISPLAY'] ?? process.env['WAYLAND_DISPLAY']);
  if (!hasScreen) return undefined;
  for (const path of [...onPath(), ...usualPlaces()]) {
    if (!existsSync(path)) continue;
    const version = versionOf(path);
    if (version === undefined || isNewEnough(version)) return { path, version };
  }
  return undefined;
}

/** Opens a window with its own folders, separate from the user's settings and extensions. */
export function openDesktop(
  desktop: Desktop,
  options: { userData: string; extensions: string; folder: string; file: string },
): ChildProcess {
  const child = spawn(
    desktop.path,
    [
      '--new-window',
      `--user-data-dir=${options.userData}`,
      `--extensions-dir=${options.extensions}`,
      `--extensionDevelopmentPath=${inRoot()}`,
      '--disable-workspace-trust',
      '--disable-updates',
      '--skip-welcome',
      '--skip-release-notes',
      options.folder,
      options.file,
    ],
    { stdio: 'ignore', detached: process.platform !== 'win32', env: withoutEditor() },
  );
  trackProcessGroup(child);
  return child;
}

const commands = ['code', 'codium', 'vscodium', 'code-insiders'] as const;

/** Returns executables of the applications whose command is on PATH. */
function onPath(): string[] {
  const found: string[] = [];
  for (const folder of (process.env['PATH'] ?? '').split(delimiter)) {
    // Skip the commands of remote windows, and of Windows in WSL, because they open no window on this machine.
    if (folder === '' || /remote-cli|code-server|^\/mnt\//.test(folder)) continue;
    for (const name of commands) {
      const command = join(folder, process.platform === 'win32' ? `${name}.cmd` : name);
      if (existsSync(command)) found.push(...applicationOf(realpathSync(command)));
    }
  }
  return found;
}

/** Converts `…/bin/code` to the path of its application. */
function applicationOf(command: string): string[] {
  const folder = dirname(dirname(command));
  if (process.platform === 'darwin') return executablesIn(join(folder, '../../MacOS'));
  if (process.platform === 'win32')
    return ['Code.exe', 'VSCodium.exe', 'Code - Insiders.exe'].map((name) => join(folder, name));
  return [join(folder, basename(command))];
}

function usualPlaces(): string[] {
  const home = homedir();
  if (process.platform === 'darwin') {
    const names = ['Visual Studio Code', 'VSCodium', 'Visual Studio Code - Insiders'];
    return ['/Applications', join(home, 'Applications')].flatMap((folder) =>
      names.flatMap((name) => executablesIn(join(folder, `${name}.app/Contents/MacOS`))),
    );
  }
  if (process.platform === 'win32') {
    const perUser = join(process.env['LOCALAPPDATA'] ?? join(home, 'AppData/Local'), 'Programs');
    const names = [
      'Microsoft VS Code/Code.exe',
      'VSCodium/VSCodium.exe',
      'Microsoft VS Code Insiders/Code - Insiders.exe',
    ];
    return [perUser, process.env['ProgramFiles'] ?? 'C:\\Program Files'].flatMap((folder) =>
      names.map((name) => join(folder, name)),
    );
  }
  return [
    '/usr/share/code/code',
    '/usr/share/codium/codium',
    '/usr/share/code-insiders/code-insiders',
    '/opt/visual-studio-code/code',
    '/opt/vscodium-bin/codium',
    '/snap/code/current/usr/share/code/code',
    '/snap/codium/current/usr/share/codium/codium',
  ];
}

function executablesIn(folder: string): string[] {
  return existsSync(folder) ? readdirSync(folder).map((name) => join(folder, name)) : [];
}

/** Reads the version from the manifest, because running the application to get its version would open a window. */
function versionOf(path: string): string | undefined {
  const manifest = ['resources/app/package.json', '../Resources/app/package.json']
    .map((name) => join(dirname(path), name))
    .find((name) => existsSync(name));
  return manifest === undefined ? undefined : /"version"\s*:\s*"([\d.]+)/.exec(readFileSync(manifest, 'utf8'))?.[1];
}

function isNewEnough(version: string): boolean {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  return major > oldest[0] || (major === oldest[0] && minor >= oldest[1]);
}

/**
 * Returns the environment without the variables that VS Code sets in its terminals. With these variables, the new
 * window would attach to the running VS Code.
 */
function withoutEditor(): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => !/^(?:VSCODE_|ELECTRON_)/.test(name)));
}
