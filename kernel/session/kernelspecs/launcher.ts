import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { createRequire } from 'node:module';
import { basename, dirname, join } from 'node:path';
import { execFileSync, spawn, type ChildProcess } from 'node:child_process';
import { constants } from 'node:os';
import { isFitNode, kernelFlags, minimumNode } from '#processes/nodeVersion.ts';
import { beginAttempt, isUsable, snapshotFlags, snapshotOf, type StartSnapshot } from '#processes/startSnapshot.ts';
import { writeQuickStartNote } from '#session/start/quickStart.ts';

// Jupyter's kernelspec refers to a copy of this file in the user's data folder. The kernel itself may be in an
// extension folder of VS Code, whose name changes with every update, so the launcher searches for it at every start.
// Only this file is copied, so it must not import other files of the project.

/** Start time in milliseconds, before anything is read. */
const began = Date.now();

const needs = `The kernel needs Node ${minimumNode.join('.')} or newer`;

type Found = { entry: string; version: string };

const parse = (version: string): number[] => version.split(/[.-]/, 3).map((part) => Number.parseInt(part, 10) || 0);

function isNewer(version: string, other: string): boolean {
  const [a, b] = [parse(version), parse(other)];
  for (let i = 0; i < 3; i++) {
    if ((a[i] ?? 0) !== (b[i] ?? 0)) return (a[i] ?? 0) > (b[i] ?? 0);
  }
  return false;
}

/** Returns the kernel of an installation folder, if it still exists. */
function kernelIn(folder: string): Found | undefined {
  try {
    const { version } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as { version?: unknown };
    const entry = join(folder, 'dist', 'kernel.cjs');
    readFileSync(entry);
    return { entry, version: String(version) };
  } catch {
    // The kernel was removed, or partly removed by an update. Another installation may exist.
    return undefined;
  }
}

/** Returns the part of a folder's name before its version, if it has one. */
const versionedName = (folder: string): string | undefined => /^(.*?-)\d+\.\d+\.\d+/.exec(basename(folder))?.[1];

/** Returns a folder and the folders of other versions beside it: `…/lance-catalog-0.1.0`, `…/lance-catalog-0.2.0`. */
function withVersions(folder: string): string[] {
  const name = versionedName(folder);
  if (name === undefined) return [folder];
  try {
    return readdirSync(dirname(folder))
      .filter((each) => each.startsWith(name))
      .map((each) => join(dirname(folder), each));
  } catch {
    return [folder];
  }
}

function newestKernel(recorded: readonly string[]): Found | undefined {
  let newest: Found | undefined;
  for (const found of recorded.flatMap(withVersions).map(kernelIn)) {
    if (found && (!newest || isNewer(found.version, newest.version))) newest = found;
  }
  return newest;
}

const installed = join(import.meta.dirname, 'installed.json');

function recordedFolders(): string[] {
  try {
    const folders: unknown = JSON.parse(readFileSync(installed, 'utf8'));
    return Array.isArray(folders) ? folders.filter((each) => typeof each === 'string') : [];
  } catch {
    return [];
  }
}

/** Returns the paths that change when a kernel that could be the newest is installed or updated. */
function watched(): string[] {
  const [only = '', ...others] = recorded;
  if (others.length === 0 && versionedName(only) === undefined) return [installed];
  return [installed, ...new Set(recorded.flatMap((each) => [dirname(each), each, join(each, 'package.json')]))];
}

function fail(sentence: string): never {
  process.stderr.write(`${sentence}\n`);
  process.exit(1);
}

/** Returns the version of `node` on PATH; undefined if there is no `node` or it does not run. */
function versionOnPath(): string | undefined {
  try {
    return execFileSync('node', ['-p', 'process.versions.node'], { encoding: 'utf8', timeout: 10_000 }).trim();
  } catch {
    return undefined;
  }
}

/** Runs the kernel in a child process with the flags that its Node needs, and ends with the same exit code. */
function runElsewhere(node: string, version: string, entry: string): void {
  const child = spawn(node, [...kernelFlags(version), entry, ...process.argv.slice(2)], { stdio: 'inherit' });
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => child.kill(signal));
  child.on('error', (error) => fail(`${needs}. Can't start "${node}": ${error.message}`));
  child.on('exit', (code, signal) => process.exit(signal ? 128 + constants.signals[signal] : (code ?? 1)));
}

/**
 * Replaces this process with the kernel's start-up snapshot: the process id, the pipes and the group stay the same, so
 * the process that started the launcher controls the kernel directly. Returns if there is no snapshot or the
 * replacement fails.
 */
function becomeSnapshot(entry: string): void {
  const { execArgv, execPath, pid, versions } = process;
  if (typeof process.execve !== 'function') return;
  const flags = kernelFlags(versions.node);
  // If another flag is set, the kernel starts without a snapshot, because a user may have added a flag to the
  // kernelspec that is incompatible with the snapshot.
  if (!execArgv.every((flag) => flags.includes(flag))) return;
  const snapshot = snapshotOf({ node: execPath, version: versions.node, flags, entry });
  if (!snapshot || !isUsable(snapshot)) return;
  try {
    writeQuickStartNote({ folder: import.meta.dirname, snapshot, flags, watched: watched(), since: began });
  } catch {
    // The error is ignored, because a failure here only makes the next start slower.
  }
  let relay: Relay | undefined;
  try {
    beginAttempt(snapshot, pid);
    const given = process.argv.slice(2);
    relay = startRelay(snapshot, given);
    const args = [...flags, ...snapshotFlags(snapshot), snapshot.entry, ...given, ...(relay ? [relay.argument] : [])];
    process.execve(execPath, [execPath, ...args], process.env);
  } catch {
    // The cache is not writable, or `execve` is not permitted. The relay is ended, and the kernel starts without a
    // snapshot.
    relay?.process.kill('SIGKILL');
  }
}

type Relay = { process: ChildProcess; argument: string };

/** Starts the relay that listens while the kernel starts, if the build contains it. */
function startRelay({ entry, folder }: StartSnapshot, given: readonly string[]): Relay | undefined {
  const { execPath, pid } = process;
  const relay = join(dirname(entry), 'relay.cjs');
  if (!existsSync(relay) || !given[0]?.startsWith('--connection-file=')) return undefined;
  const path = join(folder, `${pid}.relay`);
  const started = spawn(execPath, [relay, path, String(pid), ...given], { stdio: ['ignore', 'inherit', 'inherit'] });
  // An error is ignored: without a relay the kernel opens its own sockets.
  started.on('error', () => {});
  return { process: started, argument: `--relay=${path}` };
}

/** Returns the Node for the kernel: this one, else a supported `node` on PATH. */
function findNode(): { path: string; version: string } {
  const { node } = process.versions;
  if (isFitNode(node)) return { path: process.execPath, version: node };
  const found = versionOnPath();
  if (found === undefined || !isFitNode(found))
    fail(
      `${needs}: "${process.execPath}" is Node ${node}, and PATH has ${found === undefined ? 'no Node' : `Node ${found}`}. ` +
        'Install a newer version, then run: lance-catalog kernel install',
    );
  return { path: 'node', version: found };
}

function runKernel(entry: string): void {
  const { path, version } = findNode();
  if (path === process.execPath) {
    becomeSnapshot(entry);
    if (kernelFlags(version).every((flag) => process.execArgv.includes(flag))) return void createRequire(entry)(entry);
  }
  runElsewhere(path, version, entry);
}

/** Prints what would run, for `lance-catalog kernel list`. */
function sayWhich({ entry, version }: Found): void {
  const { path, version: nodeVersion } = findNode();
  process.stdout.write(`${JSON.stringify({ entry, version, node: path, nodeVersion })}\n`);
}

const recorded = recordedFolders();
const kernel = newestKernel(recorded);
if (!kernel) {
  fail(
    `The Lance Catalog kernel is no longer installed (last known: ${recorded.join(', ') || 'none'}). ` +
      'Install the Lance Catalog extension or package again, then run: lance-catalog kernel install',
  );
}
if (process.argv[2] === '--which') sayWhich(kernel);
else runKernel(kernel.entry);
