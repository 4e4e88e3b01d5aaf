import { relative } from 'node:path';
import ts from 'typescript-6';
import { hoistedDeclarations, ownDeclarations, remainingDeclarations } from './cellDeclarations.ts';
import { CellHost } from './cellHost.ts';
import { isInstalled, sharedDocuments } from './installedFiles.ts';
import { declaredNames } from './cellNames.ts';
import { cellOptions } from './cellOptions.ts';
import { problemsOf, type CellProblem } from './cellProblems.ts';
import { cellTransformers } from './cellTransform.ts';
import { asExpression, parseCell, unwrapped } from './parseCell.ts';

export type CellConverterOptions = {
  /** Absolute path of the notebook's folder: imports are resolved from there. */
  folder: string;
  /** Options of the folder's tsconfig, as TypeScript parses them. */
  compilerOptions?: ts.CompilerOptions;
  /** Parsed files; without one those that the whole process shares. */
  registry?: ts.DocumentRegistry;
};

export type ConvertedCell = {
  problems: CellProblem[];
  /**
   * The body of an async function of `$kernel` and `require` (see cellTransform.ts) with its source map inline;
   * undefined when the cell has no valid syntax.
   */
  output: string | undefined;
  /** Declarations for the next cell: of this one, and of those before it that are not replaced. */
  declarations: string;
};

/** A cell in a language service, for what only an editor asks. Positions in `file` are those of the cell's text. */
export type CellService = { service: ts.LanguageService; file: string; program: ts.Program };

export type CellConverter = {
  /** Checks and converts one cell. `previous` is the `declarations` of the cell before. Runs nothing. */
  convert(previous: string, source: string, options?: { check?: boolean }): ConvertedCell;
  /** TypeScript's language service over a cell. Good until the next call of this converter. */
  service(previous: string, source: string): CellService;
  /** Makes the next call look at the disk again for modules that were not found. */
  refresh(): void;
  close(): void;
};

/**
 * Compiles the cells of a notebook one by one, each against the declarations of those before it. That is the way of
 * tslab's converter; this one makes one program a cell where that makes two, and what it emits shares variables.
 */
export function createCellConverter(options: CellConverterOptions): CellConverter {
  const host = new CellHost(options.folder, cellOptions(options.compilerOptions));
  const service = ts.createLanguageService(host, options.registry ?? sharedDocuments);

  function load(previous: string, source: string): LoadedCell {
    const parsed = parseCell(source);
    const names = declaredNames(parsed);
    // Only what is exported has declarations, and this way the person's text keeps its positions.
    const suffix = names.length > 0 ? `\nexport { ${names.join(', ')} };` : '';
    host.update(`export {};\n${previous}`, source + suffix, parsed.languageVariant === ts.LanguageVariant.JSX);
    const program = service.getProgram();
    const cell = program?.getSourceFile(host.cellName);
    const earlier = program?.getSourceFile(host.previousName);
    if (!program || !cell || !earlier) throw new Error('The compiler has lost the cell.');
    // From here a name that the cell does not declare is looked for in the earlier cells, and then among the globals.
    (cell as { parent: ts.Node }).parent = earlier;
    return { program, cell, earlier };
  }

  /** Files of the person's own without a problem, as they were when they were checked. */
  const sound = new WeakSet<ts.SourceFile>();

  function fileProblems(program: ts.Program, cell: ts.SourceFile): CellProblem[] {
    return program.getSourceFiles().flatMap((file) => {
      if (file === cell || file.isDeclarationFile || isInstalled(file.fileName) || sound.has(file)) return [];
      const where = { length: file.text.length, file: relative(options.folder, file.fileName) };
      const syntax = problemsOf(program.getSyntacticDiagnostics(file), { ...where, isSyntax: true });
      const found = [...syntax, ...problemsOf(program.getSemanticDiagnostics(file), { ...where, isSyntax: false })];
      if (found.length === 0) sound.add(file);
      return found;
    });
  }

  function convert(previous: string, source: string, check: boolean): ConvertedCell {
    const { program, cell, earlier } = load(previous, source);
    const length = source.length;
    const syntax = problemsOf(program.getSyntacticDiagnostics(cell), { length, isSyntax: true });
    if (syntax.length > 0) return { problems: syntax, output: undefined, declarations: previous };
    const problems = check ? problemsOf(program.getSemanticDiagnostics(cell), { length, isSyntax: false }) : [];
    if (check && cell.statements.some(ts.isImportDeclaration)) problems.push(...fileProblems(program, cell));
    if (problems.some(({ code }) => notFound.has(code))) host.refresh();
    const checker = program.getTypeChecker();
    const { output, emitted } = emit(program, cell, cellTransformers(checker, cell, earlier));
    const own = emitted === undefined ? looseDeclarations(cell) : ownDeclarations(emitted);
    const kept = remainingDeclarations(checker, cell, earlier);
    return { problems, output, declarations: kept + own + hoistedDeclarations(checker, cell) };
  }

  return {
    convert(previous, text, { check = true } = {}) {
      const wrapped = asExpression(text);
      const converted = convert(previous, wrapped ?? text, check);
      if (wrapped === undefined) return converted;
      return { ...converted, problems: converted.problems.map((problem) => unwrapped(problem, text)) };
    },
    service(previous, source) {
      const { program, cell } = load(previous, source);
      return { service, file: cell.fileName, program };
    },
    refresh: () => host.refresh(),
    close: () => service.dispose(),
  };
}

type LoadedCell = { program: ts.Program; cell: ts.SourceFile; earlier: ts.SourceFile };

/** A module or its types could not be found: they may be there the next time. */
const notFound: ReadonlySet<number> = new Set([2307, 2688, 2792, 2875, 6053, 7016]);

function emit(
  program: ts.Program,
  cell: ts.SourceFile,
  transformers: ts.CustomTransformers,
): { output: string; emitted: string | undefined } {
  let output = '';
  let emitted: string | undefined;
  const write = (name: string, text: string) => {
    if (name.endsWith('.d.ts')) emitted = text;
    else output = text;
  };
  program.emit(cell, write, undefined, false, transformers);
  return { output, emitted };
}

/** TypeScript can't write some types down, of a private symbol for instance. Then the names are what is left. */
const looseDeclarations = (cell: ts.SourceFile): string =>
  declaredNames(cell)
    .map((name) => `declare let ${name}: any;\n`)
    .join('');
