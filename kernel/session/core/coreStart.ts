import { flushCompileCache } from 'node:module';
import { join } from 'node:path';
import { onNewRoot } from '#catalog/connect.ts';
import { registerRest } from '#catalog/rest/register.ts';
import { registerStoreFiles } from '#engine/dir/files/storeFiles.ts';
import { registerDir } from '#engine/register.ts';
import { trackNodeComments } from '#session/compiler/lazyComments.ts';
import { useOwnOutlines } from '#session/compiler/outlinedFiles.ts';
import { keepSnapshot, ensureSnapshot } from '#session/start/snapshots.ts';
import type { FromCore, ToCore } from '#session/threads/coreMessages.ts';
import { loadLazy } from '#shared/loadLazy.ts';
import { Core } from './core.ts';
import { writeFatalError } from './writeFatalError.ts';
import type { Outputs } from './outputs.ts';
import { ImportPrefetch } from './importPrefetch.ts';
import { catchUncaught } from './uncaught.ts';

/**
 * The kernel writes compiled code once no cell has run for this many milliseconds. An earlier write would delay the
 * next cell, because writing takes as long as a short cell.
 */
const stillMs = 1000;

/**
 * Saves the compiled code of packages that cells import, so that later kernels import them faster. Node.js saves one
 * part of the code, and `keep` saves the rest. Both parts are saved once no cell has run for `stillMs`, and not only at
 * exit, because most kernels are killed. At exit Node.js saves its part itself, and `keep` runs too, because a notebook
 * that runs all its cells at once never pauses.
 * @returns a function to call whenever a cell has finished
 */
function keepCompiledCode(keep: () => void): () => void {
  let timer: NodeJS.Timeout | undefined;
  const keepAll = () => {
    flushCompileCache();
    keep();
  };
  process.once('exit', keep);
  return () => {
    timer ??= setTimeout(keepAll, stillMs).unref();
    timer.refresh();
  };
}

export type CoreDeps = {
  post: (message: FromCore) => void;
  outputs: Outputs;
  typescript: string;
};

/**
 * Creates the core that runs cells; main.ts loads this bundle while the worker starts.
 * @returns the handler for messages of the worker
 */
export function startCore({ post, outputs, typescript }: CoreDeps): (message: ToCore) => void {
  const kernel = join(import.meta.dirname, 'kernel.cjs');
  trackNodeComments();
  const outlined = useOwnOutlines();
  registerDir();
  onNewRoot((line) => void process.stdout.write(`${line}\n`));
  registerStoreFiles(async (...store) => (await loadLazy(() => import('#jobs/entry.ts'))).openStoreFiles(...store));
  registerRest();
  const core = new Core((message) => {
    post(message);
    if (message.type !== 'done') return;
    keepCompiled();
    if (!core.isBusy) preparation.rest();
  }, outputs);
  const preparation = new ImportPrefetch(core.compiler);
  const keepCompiled = keepCompiledCode(() => {
    outlined.keep();
    preparation.keep();
  });
  catchUncaught(
    (error) => core.reportUncaught(error),
    (error) => writeFatalError('The kernel could not report an error', error),
  );
  post({ type: 'ready', typescript });
  setImmediate(() => {
    core.compiler.warmUp();
    // The cache is saved now and not only at exit, because many kernels are killed.
    flushCompileCache();
    ensureSnapshot(kernel);
    preparation.rest();
  });
  let isUp = false;
  return (message) => {
    // A message of the worker shows that both threads are alive.
    if (!isUp) keepSnapshot(kernel);
    isUp = true;
    if (message.type === 'execute') preparation.work();
    if (message.type !== 'exit') core.receive(message);
  };
}
