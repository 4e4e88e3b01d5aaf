// `preparedCompiler.ts RECORDS WHAT READS` prints as JSON how often the compiler read the package `odd` while idle, and
// then for a cell that imports `odd`. Each test needs a separate process, because a process reads each declaration only
// once.
import { setTimeout as sleep } from 'node:timers/promises';
import { join } from 'node:path';
import ts from 'typescript-6';
import { CellCompiler } from '#session/compiler/compiler.ts';
import { ImportRecords } from '#session/compiler/importRecords.ts';
import { useOutlines } from '#session/compiler/installedFiles.ts';
import { OutlinedFiles, OutlineRecords } from '#session/compiler/outlinedFiles.ts';
import { ImportPrefetch } from '#session/core/importPrefetch.ts';

export type Prepared = { atRest: number; forCell: number; problems: string[] };

/** `rest` waits as an idle kernel does, `work` runs a cell immediately, `unchecked` turns the type check off. */
type What = 'rest' | 'work' | 'unchecked';

const [records, what, expected] = process.argv.slice(2) as [string, What, string];
const seen = { reads: 0 };
const readFile = ts.sys.readFile.bind(ts.sys);
ts.sys.readFile = (path, encoding) => {
  if (/node_modules\/odd\/.*\.d\.ts$/.test(path)) seen.reads++;
  return readFile(path, encoding);
};

const outlined = new OutlinedFiles(new OutlineRecords(join(records, 'declarations')));
useOutlines(outlined);
const compiler = new CellCompiler();
if (what === 'unchecked') compiler.typeCheck = 'off';
compiler.warmUp();
const preparation = new ImportPrefetch(compiler, new ImportRecords(join(records, 'imports')));
preparation.rest();
if (what === 'work') preparation.work();
// Wait until the expected number of reads, at most 30 seconds. If no read is expected, wait one second.
for (const end = Date.now() + (expected === '0' ? 1000 : 30_000); Date.now() < end; await sleep(50))
  if (expected !== '0' && seen.reads >= Number(expected)) break;
const atRest = seen.reads;
const { problems } = compiler.compile("import * as odd from 'odd';\nconst n: number = odd.one;", 1);
outlined.keep();
preparation.keep();
const found: Prepared = { atRest, forCell: seen.reads - atRest, problems: problems.map(({ message }) => message) };
process.stdout.write(JSON.stringify(found));
process.exit();
