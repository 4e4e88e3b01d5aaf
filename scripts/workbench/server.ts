import { spawn, type ChildProcess } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { closeSync, mkdirSync, openSync, readFileSync, writeFileSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { endGroup, trackProcessGroup, temporaryFolder } from '../processes.ts';
import type { Workbench } from './install.ts';
import { testSettings } from './settings.ts';

/** The private folders of one workbench. The user's own profile is neither read nor written. */
export type Profile = {
  readonly home: string;
  readonly run: string;
  readonly userData: string;
  readonly extensions: string;
};

export type Server = {
  readonly address: string;
  readonly port: number;
  /** Every start has a new password. It is never passed in argv, a file or a log. */
  readonly password: string;
  readonly log: string;
  readonly child: ChildProcess;
  /** Returns why the server ended, or undefined while it runs. */
  readonly ended: () => string | undefined;
  readonly stop: () => Promise<void>;
};

/**
 * Creates the folders of a profile below `dir` and writes its settings. `run` is in the system's temporary folder and
 * is removed when this process ends, because a socket path is limited to 107 bytes and the repository's path may be
 * long.
 */
export function makeProfile(dir: string, settings: Record<string, unknown> = {}): Profile {
  const profile = {
    home: join(dir, 'home'),
    run: temporaryFolder('lance-'),
    userData: join(dir, 'data'),
    extensions: join(dir, 'ext'),
  };
  for (const path of [...Object.values(profile), join(profile.userData, 'User')])
    mkdirSync(path, { recursive: true, mode: 0o700 });
  writeFileSync(join(profile.home, 'config.yaml'), 'auth: password\ncert: false\n', { mode: 0o600 });
  writeSettings(profile, settings);
  return profile;
}

/** Returns the cache folder of a profile. The extension stores its cached files below this folder. */
export const cacheFolder = ({ home }: Profile): string => join(home, '.cache');

function writeSettings(profile: Profile, settings: Record<string, unknown>): void {
  const text = JSON.stringify({ ...testSettings, ...settings }, null, 2);
  writeFileSync(join(profile.userData, 'User/settings.json'), text);
}

/** Starts the workbench on loopback with a new password, and waits until it listens. */
export async function startServer(options: {
  workbench: Workbench;
  profile: Profile;
  /** 0 means any free port. */
  port?: number;
  /** Folder that the URL opens by default. */
  folder?: string;
  env?: Record<string, string>;
  /**
   * Enables VS Code's smoke test driver. Only tests use the driver, because it hides notifications and dialogs.
   */
  testDriver?: boolean;
  /** Time limit in milliseconds until the server must listen. */
  timeout?: number;
}): Promise<Server> {
  const { workbench, profile, port = 0, folder, env = {}, testDriver = false, timeout = 60_000 } = options;
  const password = randomBytes(16).toString('base64url');
  const log = join(profile.home, 'server.log');
  const fd = openSync(log, 'w', 0o600);
  const child = spawn(
    process.execPath,
    [
      ...serverArguments(workbench, profile),
      '--bind-addr',
      `127.0.0.1:${port}`,
      ...(folder === undefined ? [] : [folder]),
      ...(testDriver ? ['--vscode-option', 'enable-smoke-test-driver'] : []),
    ],
    // Pass a hash: for a plain password the server would compute Argon2 in each request, which takes longer than the
    // request itself. A random password needs no slow hash. The server removes this variable from its environment
    // before it starts child processes.
    {
      env: { ...serverEnvironment(profile), HASHED_PASSWORD: sha256(password), ...env },
      stdio: ['ignore', fd, fd],
      detached: true,
      cwd: profile.home,
    },
  );
  closeSync(fd);
  trackProcessGroup(child);
  let reason: string | undefined;
  child.once('exit', (code, signal) => (reason = `ended with ${code ?? signal}`));
  child.once('error', (error) => (reason = error.message));
  const stop = (): Promise<void> => endGroup(child);
  const deadline = Date.now() + timeout;
  for (;;) {
    const found = /listening on http:\/\/127\.0\.0\.1:(\d+)/.exec(readFileSync(log, 'utf8'))?.[1];
    if (found !== undefined)
      return {
        address: `http://127.0.0.1:${found}`,
        port: Number(found),
        password,
        log,
        child,
        ended: () => reason,
        stop,
      };
    if (reason !== undefined || Date.now() > deadline) {
      await stop();
      throw new Error(
        `The workbench did not start (${reason ?? `nothing listened within ${timeout / 1000} s`}).\n${tail(log)}`,
      );
    }
    await sleep(50);
  }
}

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');

/** Installs a packaged extension into a profile that no server uses yet. */
export async function installExtension(workbench: Workbench, profile: Profile, vsix: string): Promise<void> {
  const child = spawn(
    process.execPath,
    [...serverArguments(workbench, profile), '--install-extension', vsix, '--force'],
    {
      env: serverEnvironment(profile),
      stdio: ['ignore', 'pipe', 'pipe'],
    },
  );
  let report = '';
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => (report += text));
  const code = await new Promise((resolve, reject) => child.once('error', reject).once('close', resolve));
  if (code !== 0) throw new Error(`Can't install ${vsix}: exit code ${String(code)}.\n${report}`);
}

/** Returns the last lines of a log, for an error message. */
export function tail(file: string, lines = 30): string {
  return readFileSync(file, 'utf8').split('\n').slice(-lines).join('\n');
}

function serverArguments(workbench: Workbench, profile: Profile): string[] {
  const options = {
    config: join(profile.home, 'config.yaml'),
    'user-data-dir': profile.userData,
    'extensions-dir': profile.extensions,
    'reconnection-grace-time': '60',
    // Labels of the page with the password prompt.
    'app-name': 'Lance Catalog',
    'welcome-text': 'Lance Catalog: the password is in your terminal',
  };
  const flags = ['telemetry', 'update-check', 'getting-started-override', 'proxy'].map((name) => `--disable-${name}`);
  const pairs = Object.entries(options).flatMap(([name, value]) => [`--${name}`, value]);
  return [workbench.entry, ...pairs, ...flags, '--ignore-last-opened'];
}

/** Returns the environment without variables of another editor, and with all user folders inside the profile. */
export function serverEnvironment(profile: Profile): NodeJS.ProcessEnv {
  const foreign =
    /^(?:VSCODE_|CODE_SERVER_|PORT$|PASSWORD$|HASHED_PASSWORD$|ELECTRON_RUN_AS_NODE$|NODE_OPTIONS$|npm_)/i;
  const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !foreign.test(name)));
  return {
    ...env,
    PATH: [dirname(process.execPath), env['PATH']].filter(Boolean).join(delimiter),
    HOME: profile.home,
    XDG_CONFIG_HOME: join(profile.home, '.config'),
    XDG_DATA_HOME: join(profile.home, '.local/share'),
    XDG_CACHE_HOME: cacheFolder(profile),
    XDG_RUNTIME_DIR: profile.run,
    TMPDIR: profile.run,
    // Set no extension gallery, so that a sample window sends no network requests.
    EXTENSIONS_GALLERY: '{}',
  };
}
