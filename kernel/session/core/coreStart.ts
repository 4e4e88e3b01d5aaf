import { flushCompileCache } from 'node:module';
import { join } from 'node:path';
import { registerRest } from '#catalog/rest/register.ts';
import { registerDir } from '#engine/register.ts';
import { keepDocsApart } from '#session/compiler/lazyComments.ts';
import { useOwnOutlines } from '#session/compiler/outlinedFiles.ts';
import { keepSnapshot, seeToSnapshot } from '#session/start/snapshots.ts';
import type { FromCore, ToCore } from '#session/threads/coreMessages.ts';
import { Core } from './core.ts';
import { lastWords } from './lastWords.ts';
import type { Outputs } from './outputs.ts';
import { Preparation } from './preparation.ts';
import { catchUncaught } from './uncaught.ts';

/** Writing what was compiled takes as long as a short cell, so it waits until nobody runs one. */
const stillMs = 1000;

/**
 * Has written down what was compiled of the packages that cells import, by Node and by `keep`, so that later kernels
 * import them faster: when nothing runs, since most kernels end by a kill, and at the end, before which a notebook that is
 * run as a whole has no pause. Node writes its part at the end of its own accord.
 * @returns to be called whenever a cell has ended
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

export type CoreParts = {
  post: (message: FromCore) => void;
  outputs: Outputs;
  /** Version of the compiler. */
  typescript: string;
};

/** What runs cells, and all that it needs: loaded by main.ts when the worker is on its way. Returns what takes messages. */
export function startCore({ post, outputs, typescript }: CoreParts): (message: ToCore) => void {
  const kernel = join(import.meta.dirname, 'kernel.cjs');
  keepDocsApart();
  const outlined = useOwnOutlines();
  registerDir();
  registerRest();
  const core = new Core((message) => {
    post(message);
    if (message.type !== 'done') return;
    keepCompiled();
    if (!core.isBusy) preparation.rest();
  }, outputs);
  const preparation = new Preparation(core.compiler);
  const keepCompiled = keepCompiledCode(() => {
    outlined.keep();
    preparation.keep();
  });
  catchUncaught(
    (error) => core.reportUncaught(error),
    (error) => lastWords('The kernel could not report an error', error),
  );
  post({ type: 'ready', typescript });
  setImmediate(() => {
    core.compiler.warmUp();
    // Now and not at the end, which is a kill for many a kernel.
    flushCompileCache();
    seeToSnapshot(kernel);
    preparation.rest();
  });
  let isUp = false;
  return (message) => {
    // The worker speaks, so both threads are alive.
    if (!isUp) keepSnapshot(kernel);
    isUp = true;
    if (message.type === 'execute') preparation.work();
    if (message.type !== 'exit') core.receive(message);
  };
}
