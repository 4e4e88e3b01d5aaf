import ts from 'typescript-6';
import { keepDocsApart, leaveOutDocs } from '#session/compile/lateDocs.ts';
import { leaveOutModules } from './lazyModules.ts';
import { warmUp } from './warmUp.ts';

// What a start-up snapshot is made of: `node --snapshot-blob FILE --build-snapshot kernelSnapshot.cjs` runs this and
// writes down the memory. It holds the compiler, with what every notebook needs parsed and bound, and nothing else:
// no socket, no native module, nothing of a person's. Not even `node:v8`, which would be the usual way to say what runs
// next: it loads Node's streams, and a process that has those from a snapshot aborts when a worker thread opens a socket.

/** Where TypeScript's own files are: in the bundle it would look for its libraries beside the bundle. */
const typescript = process.env['LANCE_CATALOG_TYPESCRIPT'] ?? '';

ts.sys.getExecutingFilePath = () => typescript;
// TypeScript remembers the first answer, which would be the folder of whoever made the snapshot.
ts.sys.getCurrentDirectory = () => process.cwd();
keepDocsApart();
const { problems, files, options } = warmUp();
if (problems !== '') throw new Error(problems);
files.forEach(leaveOutDocs);
leaveOutModules(files, options);
globalThis.lanceCatalogCompiler = { ts, typescript };
