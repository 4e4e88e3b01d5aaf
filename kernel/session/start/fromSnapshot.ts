import { builtinModules, createRequire, Module } from 'node:module';
import { setFlagsFromString } from 'node:v8';
import type { Worker } from 'node:worker_threads';
import { keepHashSeedFlag, languageArgument } from '#processes/startSnapshot.ts';

// The script of a process that starts from a snapshot. `fromSnapshot.cjs ARGUMENTS` runs `kernel.cjs ARGUMENTS` with
// the compiler that is already in memory. `fromSnapshot.cjs language` runs the language worker in the same way.
// `fromSnapshot.cjs probe` tests that a process works from the snapshot.

// Switches the flag `keepHashSeedFlag` off. It is not needed after the start, and code caches are only valid under the
// flags with which they were created.
setFlagsFromString(keepHashSeedFlag.replace('--no-', '--'));
const require = createRequire(import.meta.filename);

function start(): void {
  const { ts, typescript, Console } = globalThis.lanceCatalogCompiler ?? {};
  if (ts === undefined || typescript === undefined) throw new Error('This process did not start from a snapshot.');
  Object.assign(console, { Console });
  const loaded = new Module(typescript);
  Object.assign(loaded, { exports: ts, filename: typescript, loaded: true });
  require.cache[typescript] = loaded;
  if (process.argv[2] === 'probe') return probe();
  const script = process.argv[2] === languageArgument ? './languageWorker.cjs' : './kernel.cjs';
  require(script);
}

/**
 * Loads all Node modules, because a module that was partly loaded when the snapshot was built aborts the process or
 * worker thread that loads it.
 */
function probe(): void {
  for (const name of builtinModules) require(name);
  // Threads lack some modules. Loading one of these throws, and the error is ignored.
  const everything = `for (const name of ${JSON.stringify(builtinModules)}) try { require(name); } catch {}`;
  const threads = require('node:worker_threads') as { Worker: typeof Worker };
  const worker = new threads.Worker(everything, { eval: true });
  worker.on('error', (error) => {
    throw error;
  });
}

start();
