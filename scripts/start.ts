import { spawn } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { parseArgs } from 'node:util';
import { isProcessRunning } from '#processes/running.ts';
import { buildAll, isStale } from './build.ts';
import { inRoot } from './paths.ts';
import { endGroup, onInterrupt } from './processes.ts';
import { openInBrowser } from './start/browser.ts';
import { type Desktop, findDesktop, openDesktop } from './start/desktop.ts';
import { prepareSample } from './start/sample.ts';
import { recordWindowData, sample } from './start/windowData.ts';
import { testSettings } from './workbench/settings.ts';

/**
 * Locks the sample window, because two servers on one profile would overwrite each other's state.
 * @throws Error if another running process has the lock
 */
function lockSampleWindow(file: string): void {
  mkdirSync(dirname(file), { recursive: true });
  for (;;) {
    try {
      writeFileSync(file, String(process.pid), { flag: 'wx' });
      process.on('exit', () => rmSync(file, { force: true }));
      return;
    } catch (error) {
      if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error;
    }
    const owner = Number(readFileSync(file, 'utf8'));
    if (Number.isInteger(owner) && owner > 0 && isProcessRunning(owner))
      throw new Error(`The sample window is already open (process ${owner}): use it, or end that process first.`);
    rmSync(file, { force: true });
  }
}

const help = `npm start -- [options]
  Open VS Code on a sample catalog: the desktop application if it is installed, else VS Code in the browser.
  --headless   run the tour notebook without a window, and print the output of each cell
  --browser    use the browser, even if the desktop application is installed
  --port N     port of the browser window (default: a free port)`;

const say = (line: string): void => console.log(line);

/** `npm start`. Returns the exit code. */
export async function main(args: readonly string[]): Promise<number> {
  const options = readArguments(args);
  if (typeof options === 'string') {
    console.error(options);
    return 2;
  }
  if (options.help) {
    say(help);
    return 0;
  }
  try {
    if (isStale()) {
      say('building …');
      if ((await buildAll(say)) > 0) return 1;
    }
    // From now on Ctrl-C ends the started processes, even while they start.
    let cleanUp: (() => Promise<void>) | undefined;
    onInterrupt(async () => cleanUp?.());
    const whenInterrupted = (last: () => Promise<void>): void => void (cleanUp = last);
    const isSampleThere = await prepareSample(say);
    if (options.headless) return isSampleThere ? await runTour(whenInterrupted) : 1;
    lockSampleWindow(join(sample.profile, 'owner'));
    const desktop = options.browser ? undefined : findDesktop();
    const settings = windowSettings(isSampleThere);
    // A desktop VS Code uses the user's data folder.
    if (desktop) recordWindowData(sample.profile, undefined);
    if (desktop) return await showDesktop(desktop, settings, whenInterrupted);
    if (process.platform === 'win32') {
      say(
        'VS Code was not found: install it from https://code.visualstudio.com, or run the tour here with "npm start -- --headless".',
      );
      return 1;
    }
    return await showBrowser(options.port, settings, whenInterrupted);
  } catch (error) {
    console.error(error instanceof Error ? error.message : String(error));
    return 1;
  }
}

type Settings = Record<string, unknown>;
/** Sets the cleanup for Ctrl-C. Replaces an earlier cleanup. */
type WhenInterrupted = (cleanUp: () => Promise<void>) => void;

/** Settings of the window, with the sample as a connection. The folder is generated, so it needs no trust prompt. */
const windowSettings = (isSampleThere: boolean): Settings => ({
  'security.workspace.trust.enabled': false,
  'lanceCatalog.defaultConnections': isSampleThere ? [{ name: 'sample', root: sample.catalog }] : [],
});

/** Resolves when the window closes; Ctrl-C closes it. */
async function showDesktop(desktop: Desktop, settings: Settings, whenInterrupted: WhenInterrupted): Promise<number> {
  const userData = join(sample.profile, 'desktop');
  const extensions = join(sample.profile, 'desktop-extensions');
  for (const folder of [join(userData, 'User'), extensions]) mkdirSync(folder, { recursive: true });
  writeFileSync(join(userData, 'User/settings.json'), JSON.stringify({ ...testSettings, ...settings }, null, 2));
  const child = openDesktop(desktop, { userData, extensions, folder: sample.folder, file: sample.notebook });
  whenInterrupted(() => endGroup(child));
  say(
    `Opening ${desktop.path}${desktop.version === undefined ? '' : ` (${desktop.version})`}. Close the window or press Ctrl-C to end.`,
  );
  return new Promise((resolve, reject) => {
    child.once('error', (cause) =>
      reject(new Error(`Can't start ${desktop.path}: run "npm start -- --browser" instead.`, { cause })),
    );
    child.once('exit', (code) => resolve(code ?? 0));
  });
}

/** Resolves if the server ends by itself, which is an error. Ctrl-C ends the server and this process. */
async function showBrowser(port: number, settings: Settings, whenInterrupted: WhenInterrupted): Promise<number> {
  const server = await openInBrowser({
    profile: sample.profile,
    settings,
    folder: sample.folder,
    port,
    say,
  });
  let stopping = false;
  whenInterrupted(async () => {
    stopping = true;
    await server.stop();
  });
  say('Open the address in a browser and log in with the password. Press Ctrl-C to stop.');
  return new Promise((resolve) => {
    server.child.once('exit', () => {
      if (stopping) return;
      console.error(
        `The workbench ended unexpectedly (${server.ended() ?? 'no reason given'}); its log is ${server.log}.`,
      );
      resolve(1);
    });
  });
}

/** Runs the tour in the same kernel as the window does, for machines without a screen. */
function runTour(whenInterrupted: WhenInterrupted): Promise<number> {
  const child = spawn(
    process.execPath,
    [inRoot('dist/cli.cjs'), 'run', inRoot('scripts/sample/tour.ipynb'), '--catalog', sample.catalog],
    { stdio: 'inherit' },
  );
  whenInterrupted(async () => void child.kill());
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('exit', (code) => resolve(code ?? 1));
  });
}

/** @throws the error of an unknown option, for which boot.mjs prints a message */
function readArguments(args: readonly string[]) {
  const { values } = parseArgs({
    args: [...args],
    options: {
      headless: { type: 'boolean', default: false },
      browser: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
      port: { type: 'string', default: '0' },
    },
  });
  const port = Number(values.port);
  if (!/^\d+$/.test(values.port) || port > 65_535) {
    return `Expected a number from 0 to 65535 for --port, got "${values.port}".`;
  }
  return { ...values, port };
}
