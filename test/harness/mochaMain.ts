/** Runs test files of one layer in plain Node: `node mochaMain.ts --results FILE [--grep TEXT] FILE…`. */
import { parseArgs } from 'node:util';
import { fileEmitter, runMocha } from './reporter.ts';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { results: { type: 'string', default: 'results.ndjson' }, grep: { type: 'string' } },
});

const failures = await runMocha({ files: positionals, emit: fileEmitter(values.results), grep: values.grep });
// A test that leaves a server open must not keep the run alive.
process.exit(failures > 0 ? 1 : 0);
