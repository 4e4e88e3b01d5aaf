import ts from 'typescript-6';
import { createCellConverter } from '#session/compile/cellConverter.ts';
import { prelude } from '#session/compile/prelude.ts';
import { isInstalled } from '#session/compiler/installedFiles.ts';
import { trackNodeComments, dropComments } from '#session/compiler/lazyComments.ts';
import { leaveOutModules } from './lazyModules.ts';

// The content of a start-up snapshot: `node --snapshot-blob FILE --build-snapshot kernelSnapshot.cjs` runs this file
// and serializes the memory. The snapshot contains the compiler, with the declarations of every notebook parsed and
// bound, but no socket, no native module and no user data. This file does not even use `node:v8`, the usual way to set
// the main function: that module loads Node's streams, and a process that has the streams from a snapshot aborts when a
// worker thread opens a socket.

type Warmed = {
  /** Errors of the compiled cells; empty if all is well. */
  problems: string;
  files: readonly ts.SourceFile[];
  options: ts.CompilerOptions;
};

/**
 * Compiles two cells, because the second one takes other paths through the compiler, and returns the files shared by
 * all notebooks.
 */
function warmUp(): Warmed {
  const converter = createCellConverter({ folder: '/notebook' });
  const first = converter.convert(prelude, 'let a = 1; a + 1');
  const second = converter.convert(first.declarations, 'const b = a + 1; b');
  const { program } = converter.service(second.declarations, '');
  const files = program.getSourceFiles().filter(({ fileName }) => isInstalled(fileName));
  const problems = [...first.problems, ...second.problems].map(({ message }) => message).join('\n');
  return { problems, files, options: program.getCompilerOptions() };
}

/** Path of TypeScript's own files; by default the bundle would search for its libraries beside itself. */
const typescript = process.env['LANCE_CATALOG_TYPESCRIPT'] ?? '';

ts.sys.getExecutingFilePath = () => typescript;
// TypeScript caches the first result, which would be the folder of the process that builds the snapshot. A cell may
// replace the global `process`.
const own = process;
ts.sys.getCurrentDirectory = () => own.cwd();
trackNodeComments();
const { problems, files, options } = warmUp();
if (problems !== '') throw new Error(problems);
files.forEach(dropComments);
leaveOutModules(files, options);
const { Console } = console;
globalThis.lanceCatalogCompiler = { ts, typescript, Console };
