import { builtinModules, createRequire, Module } from 'node:module';
import { setFlagsFromString } from 'node:v8';
import type { Worker } from 'node:worker_threads';
import { keepHashes, languageArgument } from '#processes/startSnapshot.ts';

// The script that a process runs which started from a snapshot: `fromSnapshot.cjs ARGUMENTS` is `kernel.cjs ARGUMENTS`
// with the compiler that is in memory already, `fromSnapshot.cjs language` the language worker. `fromSnapshot.cjs probe` shows that a process can live in the snapshot.

// Code that was kept compiled, Node's own in the snapshot and that of others, belongs to the flags that it was made under.
// This one has done its work.
setFlagsFromString(keepHashes.replace('--no-', '--'));
const require = createRequire(import.meta.filename);

function start(): void {
  const { ts, typescript } = globalThis.lanceCatalogCompiler ?? {};
  if (ts === undefined || typescript === undefined) throw new Error('This process did not start from a snapshot.');
  const loaded = new Module(typescript);
  Object.assign(loaded, { exports: ts, filename: typescript, loaded: true });
  require.cache[typescript] = loaded;
  if (process.argv[2] === 'probe') return probe();
  const script = process.argv[2] === languageArgument ? './languageWorker.cjs' : './kernel.cjs';
  require(script);
}

/** A module of Node that was half loaded when the snapshot was made aborts a process, or a thread of it, that loads it. */
function probe(): void {
  for (const name of builtinModules) require(name);
  // A thread has not all of them, and says so by an error.
  const everything = `for (const name of ${JSON.stringify(builtinModules)}) try { require(name); } catch {}`;
  const threads = require('node:worker_threads') as { Worker: typeof Worker };
  const worker = new threads.Worker(everything, { eval: true });
  worker.on('error', (error) => {
    throw error;
  });
}

start();
