/**
 * Run by codeShim.mjs: opens the browser workbench with an extension under test and its suite, and waits for the end of
 * the suite.
 */
import { createWriteStream, copyFileSync, existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { format, parseArgs } from 'node:util';
import { endGroup, onInterrupt } from '../../scripts/processes.ts';
import { cacheFolder, makeProfile, startServer, tail, type Server } from '../../scripts/workbench/server.ts';
import { openBrowser, type Browser } from './browser.ts';
import { shareKernelSnapshot } from './kernelSnapshot.ts';
import { ResultsFile } from './results.ts';
import { tempFolder } from './temp.ts';
import { addExtension, installedWorkbench, openWorkbench, remoteUri, withoutShell } from './workbench.ts';

const { values } = parseArgs({
  options: {
    extension: { type: 'string', multiple: true, default: [] },
    tests: { type: 'string', default: '' },
    folder: { type: 'string' },
  },
});
const [extension = '.', ...others] = values.extension;
const folder = values.folder ?? tempFolder();
const limit = Number(process.env['LANCE_TEST_LIMIT'] ?? 300);
const artifacts = process.env['LANCE_TEST_ARTIFACTS'] ?? tempFolder();
const results = new ResultsFile(process.env['LANCE_TEST_RESULTS'] ?? join(artifacts, 'results.ndjson'), () => {});
const hostLog = createWriteStream(join(artifacts, 'extensionHost.log'));
const work = tempFolder('lance-host-');

let server: Server | undefined;
let browser: Browser | undefined;
onInterrupt(async () => {
  if (server) await endGroup(server.child);
});

/** Opens the workbench. Resolves to the exit code that it reports for the suite. */
async function runSuite(): Promise<number> {
  const profile = makeProfile(work, { 'security.workspace.trust.enabled': false, 'window.dialogStyle': 'custom' });
  // The page's URL can name only one extension folder under development, so the others are installed.
  for (const path of others) addExtension(profile, path);
  const env = { ...withoutShell, ...shareKernelSnapshot(cacheFolder(profile)) };
  server = await startServer({ workbench: installedWorkbench(), profile, testDriver: true, env });
  browser = await openBrowser(work);
  const { page } = browser;
  let exitCode: number | undefined;
  let gone: string | undefined;
  // VS Code calls `codeAutomationLog` and `codeAutomationExit` if the page has these functions.
  await page.exposeFunction('codeAutomationLog', (type: string, args: unknown[]) =>
    hostLog.write(`[${type}] ${format(...args)}\n`),
  );
  await page.exposeFunction('codeAutomationExit', (code: number) => (exitCode = code));
  page.on('crash', () => (gone = 'the page crashed'));
  browser.context.on('close', () => (gone ??= 'the browser closed'));
  const payload = [
    ['extensionDevelopmentPath', remoteUri(server, extension)],
    ['extensionTestsPath', remoteUri(server, values.tests)],
  ] as const;
  await openWorkbench(page, server, { folder, payload });
  const deadline = Date.now() + limit * 1000;
  let endedAt = 0;
  for (;;) {
    results.read();
    if (exitCode !== undefined) return exitCode;
    if (results.ended) endedAt ||= Date.now();
    if (endedAt > 0 && Date.now() - endedAt > 10_000) return 0; // the workbench reported no end; the results file decides
    const why =
      gone ?? server.ended() ?? hostDeath() ?? (Date.now() > deadline ? `the limit of ${limit} s is over` : undefined);
    if (why !== undefined && !results.ended)
      throw new Error(`${why}${results.running === undefined ? '' : ` during "${results.running}"`}`);
    await sleep(100);
  }
}

/** Returns a message if the process of the extension host has ended before its suite. */
function hostDeath(): string | undefined {
  const begin = results.events.find((event) => event.event === 'begin');
  if (!begin) return undefined;
  try {
    process.kill(begin.pid, 0);
    return undefined;
  } catch {
    results.read();
    return `the extension host (process ${begin.pid}) died`;
  }
}

let code = 2;
try {
  code = (await runSuite()) === 0 ? 0 : 1;
} catch (error) {
  console.error(`Host tests: ${error instanceof Error ? error.message : String(error)}`);
}
results.read();
if (code !== 0 || results.problem() !== undefined || results.tally().failed > 0) await keepEvidence();
await browser?.close();
await server?.stop();
await new Promise((resolve) => hostLog.end(resolve));
process.exit(code);

async function keepEvidence(): Promise<void> {
  await browser?.page.screenshot({ path: join(artifacts, 'failure.png'), timeout: 10_000 }).catch(() => undefined);
  if (browser) writeFileSync(join(artifacts, 'browser.log'), browser.consoleLines.join('\n'));
  if (server && existsSync(server.log)) {
    copyFileSync(server.log, join(artifacts, 'server.log'));
    if (code === 2) console.error(tail(server.log));
  }
  console.error(`Evidence is in ${artifacts}`);
}
