import { rmSync } from 'node:fs';
import { CatalogError, isCatalogError, messageOf } from '#shared/errors.ts';
import { Endpoint } from '#shared/protocol/rpc.ts';
import { type EngineHostMethods, type EngineMethods, engineErrorCode } from '#sql/messages.ts';
import type { EngineDatabase } from './engineDatabase.ts';

// The process of the SQL engine. It is apart because only a process can be killed during any computation, and because a
// crash of native code must not take a notebook's variables. It ends when the process that started it does.

const [spillFolder = '', memoryLimit = ''] = process.argv.slice(2);

process.on('disconnect', () => {
  rmSync(spillFolder, { recursive: true, force: true });
  // Threads of the engine may be computing, and a regular exit would wait for them.
  process.kill(process.pid, 'SIGKILL');
});

let opened: Promise<EngineDatabase> | undefined;

/**
 * Loads the engine's native code.
 * @throws CatalogError Unsupported (0) if there is none for this platform
 */
async function openDatabase(): Promise<EngineDatabase> {
  const { EngineDatabase: engine } = await import('./engineDatabase.ts').catch((error: unknown) => {
    throw new CatalogError(
      'Unsupported',
      `SQL is not available here: there is no SQL engine for ${process.platform}-${process.arch} in this installation.`,
      // The process that asks knows the next step.
      '',
      { cause: error },
    );
  });
  return engine.open({ spillFolder, memoryLimit });
}

/** Runs a call on the database. Errors of the engine get a separate code, because their message is JSON. */
async function withDatabase<T>(call: (database: EngineDatabase) => Promise<T>): Promise<T> {
  try {
    return await call(await (opened ??= openDatabase()));
  } catch (error) {
    if (isCatalogError(error)) throw error;
    throw Object.assign(new Error(messageOf(error), { cause: error }), { kind: engineErrorCode });
  }
}

const endpoint = new Endpoint<EngineMethods, EngineHostMethods>((frame) => process.send?.(frame), {
  parse: (params) => withDatabase((database) => database.parse(params)),
  start: (params) => withDatabase((database) => database.start(params)),
  next: () => withDatabase((database) => database.next()),
  close: async () => {
    await withDatabase((database) => database.close());
    return process.memoryUsage.rss();
  },
});
process.on('message', (frame) => void endpoint.receive(frame));
