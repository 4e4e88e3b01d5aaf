import ts from 'typescript-6';
import { createCellConverter } from '#session/compile/cellConverter.ts';
import { prelude } from '#session/compile/prelude.ts';
import { isInstalled } from '#session/compiler/installedFiles.ts';
import { keepDocsApart, leaveOutDocs } from '#session/compiler/lazyComments.ts';
import { leaveOutModules } from './lazyModules.ts';

// What a start-up snapshot is made of: `node --snapshot-blob FILE --build-snapshot kernelSnapshot.cjs` runs this and
// writes down the memory. It holds the compiler, with what every notebook needs parsed and bound, and nothing else:
// no socket, no native module, nothing of a person's. Not even `node:v8`, which would be the usual way to say what runs
// next: it loads Node's streams, and a process that has those from a snapshot aborts when a worker thread opens a socket.

type Warmed = {
  /** What the compiler has against the cells, which is nothing where all is well. */
  problems: string;
  /** Files that all notebooks share. */
  files: readonly ts.SourceFile[];
  options: ts.CompilerOptions;
};

/**
 * Compiles two cells, since the second takes other paths through the compiler. What is left behind is the files that all
 * notebooks share.
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
