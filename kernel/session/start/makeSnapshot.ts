import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, closeSync, openSync, readdirSync, renameSync, rmSync, statSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { makeFolder, replaceFile } from '#processes/files.ts';
import { isProcessRunning } from '#processes/running.ts';
import { isPrivate, isUsable, snapshotFlags, snapshotOf, type StartSnapshot } from '#processes/startSnapshot.ts';

// `node FLAGS snapshotMaker.cjs` builds the start-up snapshot for this Node, these flags and the kernel in the same
// folder. It runs as a separate process that outlives the kernel which started it. The builder reports nothing to the
// kernel, because kernels also start without a snapshot.

const limitMs = 120_000;
/** Number of snapshots kept, including those of other builds and Node versions. */
const keep = 3;

async function main(): Promise<void> {
  const entry = join(import.meta.dirname, 'kernel.cjs');
  const snapshot = snapshotOf({
    node: process.execPath,
    version: process.versions.node,
    flags: process.execArgv,
    entry,
  });
  if (!snapshot) return;
  const { folder, blob, note } = snapshot;
  makeFolder(folder);
  if (!isPrivate(folder) || isUsable(snapshot)) return;
  const lock = `${blob}.lock`;
  if (!take(lock)) return;
  const building = `${blob}.building`;
  try {
    await build({ ...snapshot, blob: building });
    chmodSync(building, 0o600);
    const { size } = statSync(building);
    renameSync(building, blob);
    replaceFile(note, JSON.stringify({ size }), { isLasting: false });
    prune(folder);
  } finally {
    for (const file of [building, lock]) rmSync(file, { force: true });
  }
}

/** Builds a snapshot and tests that a process starts from it. */
async function build(snapshot: StartSnapshot): Promise<void> {
  const typescript = createRequire(import.meta.filename).resolve('typescript-6');
  const script = join(import.meta.dirname, 'kernelSnapshot.cjs');
  // The process prints no warnings and has no pipes, because a process that has used a socket can't be serialized.
  // `--no-force-async-hooks-checks` is left out: it decrements a counter in memory at each start. If the snapshot had a
  // decremented counter too, a second decrement would undo the flag.
  const flags = process.execArgv.filter((flag) => flag !== '--no-force-async-hooks-checks');
  await run([...flags, '--snapshot-blob', snapshot.blob, '--build-snapshot', script], {
    PATH: process.env['PATH'],
    NODE_NO_WARNINGS: '1',
    LANCE_CATALOG_TYPESCRIPT: typescript,
  });
  await run([...process.execArgv, ...snapshotFlags(snapshot), snapshot.entry, 'probe'], {
    ...process.env,
    NODE_NO_WARNINGS: '1',
  });
}

async function run(args: readonly string[], env: NodeJS.ProcessEnv): Promise<void> {
  const child = spawn(process.execPath, args, {
    env,
    stdio: 'ignore',
    timeout: limitMs,
    killSignal: 'SIGKILL',
  });
  const [code, signal] = (await once(child, 'exit')) as [number | null, NodeJS.Signals | null];
  if (code !== 0) throw new Error(`${args.join(' ')} ended with ${code ?? signal}.`);
}

/** Takes the lock, so that only one process builds; replaces the lock of a killed process. */
function take(lock: string): boolean {
  try {
    if (Date.now() - statSync(lock).mtimeMs > 2 * limitMs) rmSync(lock, { force: true });
  } catch {
    // Usually there is no lock, so reading it fails.
  }
  try {
    closeSync(openSync(lock, 'wx', 0o600));
    return true;
  } catch {
    return false;
  }
}

/** Removes the oldest snapshots, each after its note, and the sockets of relays whose kernel no longer runs. */
function prune(folder: string): void {
  const names = readdirSync(folder);
  for (const name of names)
    if (name.endsWith('.relay') && !isProcessRunning(Number.parseInt(name, 10)))
      rmSync(join(folder, name), { force: true });
  const notes = names
    .filter((name) => name.endsWith('.json'))
    .map((name) => join(folder, name))
    .toSorted((a, b) => statSync(b).mtimeMs - statSync(a).mtimeMs);
  for (const note of notes.slice(keep))
    for (const kind of ['json', 'blob', 'attempt']) rmSync(note.replace(/json$/, kind), { force: true });
}

main().catch((error: unknown) => {
  // Written for manual runs; a kernel ignores stderr.
  process.stderr.write(`${String(error)}\n`);
  process.exitCode = 1;
});
