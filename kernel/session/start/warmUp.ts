import type ts from 'typescript-6';
import { createCellConverter } from '#session/compile/cellConverter.ts';
import { isInstalled } from '#session/compile/installedFiles.ts';
import { prelude } from '#session/compile/prelude.ts';

export type Warmed = {
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
export function warmUp(): Warmed {
  const converter = createCellConverter({ folder: '/notebook' });
  const first = converter.convert(prelude, 'let a = 1; a + 1');
  const second = converter.convert(first.declarations, 'const b = a + 1; b');
  const { program } = converter.service(second.declarations, '');
  const files = program.getSourceFiles().filter(({ fileName }) => isInstalled(fileName));
  const problems = [...first.problems, ...second.problems].map(({ message }) => message).join('\n');
  return { problems, files, options: program.getCompilerOptions() };
}
