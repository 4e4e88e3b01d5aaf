import { flushCompileCache } from 'node:module';
import { join } from 'node:path';
import { registerRest } from '#client/registerRest.ts';
import { registerDir } from '#engine/register.ts';
import { keepDocsApart } from './compile/lateDocs.ts';
import { useOwnOutlines } from './compile/outlinedFiles.ts';
import { keepCompiledCode } from './compiledCode.ts';
import { Core } from './core.ts';
import type { FromCore, ToCore } from './coreMessages.ts';
import { lastWords } from './lastWords.ts';
import type { Outputs } from './outputs.ts';
import { Preparation } from './preparation.ts';
import { keepSnapshot, seeToSnapshot } from './start/snapshots.ts';
import { catchUncaught } from './uncaught.ts';

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
