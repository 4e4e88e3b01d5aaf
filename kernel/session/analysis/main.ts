import { enableCompileCache, flushCompileCache } from 'node:module';
import { Socket } from 'node:net';
import { join } from 'node:path';
import { dataFolder } from '#processes/userFolders.ts';

// The language process. The editor starts one per window, separate from the kernels, so that the process answers while
// cells run. The process runs no code of a notebook. Its client is connected to descriptor 3, and the process ends when
// the client disconnects.

const end = (): never => process.exit(0);

async function start(): Promise<void> {
  const pipe = new Socket({ fd: 3, readable: true, writable: true });
  pipe.on('close', end);
  pipe.on('error', end);
  // Compiling TypeScript takes most of the start time. The cache is in the user's own folder, because any process that
  // can write it can run code here.
  enableCompileCache(join(dataFolder(), 'compile-cache'));
  const { serve } = await import('./server.ts');
  serve(pipe, end);
  // The cache is saved now, because the process may be killed and then would not save it.
  flushCompileCache();
}

start().catch((error: unknown) => {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exit(1);
});
