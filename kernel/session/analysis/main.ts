import { enableCompileCache, flushCompileCache } from 'node:module';
import { Socket } from 'node:net';
import { join } from 'node:path';
import { dataFolder } from '#processes/userFolders.ts';

// The process that knows the language of cells: one for a window, apart from every kernel, so that it answers while cells
// run. It runs no code of a notebook. Its client is at descriptor 3, and it ends when that client goes.

const end = (): never => process.exit(0);

async function start(): Promise<void> {
  const pipe = new Socket({ fd: 3, readable: true, writable: true });
  pipe.on('close', end);
  pipe.on('error', end);
  // Compiling TypeScript itself is most of the start. In the person's own folder: a cache that others can write runs
  // their code.
  enableCompileCache(join(dataFolder(), 'compile-cache'));
  const { serve } = await import('./server.ts');
  serve(pipe, end);
  // Now and not at the end, which may be a kill.
  flushCompileCache();
}

start().catch((error: unknown) => {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exit(1);
});
