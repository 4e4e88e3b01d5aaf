import { relative } from 'node:path';
import ts from 'typescript-6';
import type { NotebookLanguage } from '#shared/notebookLanguage.ts';
import { hoistedDeclarations, ownDeclarations, remainingDeclarations } from './cellDeclarations.ts';
import { CellHost } from '#session/compiler/cellHost.ts';
import { isInstalled, sharedDocuments } from '#session/compiler/installedFiles.ts';
import { declaredNames, namesIn } from './cellNames.ts';
import { cellOptions } from '#session/compiler/cellOptions.ts';
import { problemsOf, type CellProblem } from './cellProblems.ts';
import { CellPrograms, type LoadedCell } from '#session/compiler/cellPrograms.ts';
import { cellTransformers } from './cellTransform.ts';
import { asExpression, errorCount, parseCell, unwrapped } from './parseCell.ts';

type CellConverterOptions = {
  /** Absolute path of the notebook's folder, from which imports resolve. */
  folder: string;
  /** Options of the folder's tsconfig, as TypeScript parses them. */
  compilerOptions?: ts.CompilerOptions;
  /** Language of the cells; default: TypeScript. */
  language?: NotebookLanguage | undefined;
  /** Registry of parsed files. Default: the registry shared by the whole process. */
  registry?: ts.DocumentRegistry;
};

export type ConvertedCell = {
  problems: CellProblem[];
  /**
   * Body of an async function of `$kernel` and `require` (see cellTransform.ts) with an inline source map; undefined
   * if the cell has syntax errors.
   */
  output: string | undefined;
  /**
   * Declarations that the next cell is checked against: the declarations of this cell, and the declarations of earlier
   * cells that this cell does not replace.
   */
  declarations: string;
  /** Names declared at the top level, types included. */
  names: readonly string[];
};

/** A cell in a language service, for editor features. A position in `file` is the same as in the cell's text. */
export type CellService = { service: ts.LanguageService; file: string; program: ts.Program };

export type CellConverter = {
  /** Checks and converts one cell without running it. `previous` is the `declarations` of the cell before. */
  convert(previous: string, source: string, options?: { check?: boolean }): ConvertedCell;
  /** Checks a cell that never runs, so that the modules it imports are already loaded when a later cell is checked. */
  rehearse(previous: string, source: string): void;
  /** Returns a language service over a cell, valid until the next call of this converter. */
  service(previous: string, source: string): CellService;
  /** Makes the next call search the disk again for modules that were not found. */
  refresh(): void;
  close(): void;
};

/**
 * Creates a converter that compiles a notebook's cells one by one, each against the declarations of earlier cells. It
 * is modeled on tslab's converter, but creates one program per cell instead of two. In the emitted code, all cells share
 * their variables (see cellTransform.ts).
 */
export function createCellConverter(options: CellConverterOptions): CellConverter {
  const { language } = options;
  const host = new CellHost(options.folder, cellOptions(options.compilerOptions), language);
  const service = ts.createLanguageService(host, options.registry ?? sharedDocuments);

  const programs = new CellPrograms(host, service);

  function load(previous: string, source: string, how: 'load' | 'inService'): LoadedCell {
    const parsed = parseCell(source, language);
    // TypeScript emits declarations only for exports. The exports come last, so that positions in the user's text do
    // not change. If the cell has a syntax error, the exports are left out: they would become part of an unclosed
    // block, and the error would be reported after them, outside of the user's text.
    const suffix = errorCount(parsed) > 0 ? '' : `\nexport { ${declaredNames(parsed).join(', ')} };`;
    const text = source + suffix;
    const isJsx = language !== 'javascript' && parsed.languageVariant === ts.LanguageVariant.JSX;
    return programs[how](previous, text, isJsx);
  }

  /** The user's own files that were checked without finding a problem. */
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
    const { program, cell, earlier } = load(previous, source, 'load');
    const length = source.length;
    const syntax = problemsOf(program.getSyntacticDiagnostics(cell), { length, isSyntax: true });
    if (syntax.length > 0) {
      programs.leave();
      return { problems: syntax, output: undefined, declarations: previous, names: [...namesIn(cell)] };
    }
    const problems = check ? problemsOf(program.getSemanticDiagnostics(cell), { length, isSyntax: false }) : [];
    if (check && cell.statements.some(ts.isImportDeclaration)) problems.push(...fileProblems(program, cell));
    if (problems.length > 0) programs.leave();
    if (problems.some(({ code }) => notFound.has(code))) host.refresh();
    const checker = program.getTypeChecker();
    const transformers = cellTransformers(checker, cell, earlier);
    if (cell.statements.every(declaresNothing))
      return {
        problems,
        output: emit(program, cell, transformers, onlyCode).output,
        declarations: previous,
        names: [],
      };
    const { output, emitted } = emit(program, cell, transformers);
    const own = emitted === undefined ? looseDeclarations(cell) : ownDeclarations(emitted);
    const kept = remainingDeclarations(checker, cell, { text: previous, files: earlier });
    const all = kept + own + hoistedDeclarations(checker, cell);
    return { problems, output, declarations: all, names: [...namesIn(cell)] };
  }

  return {
    convert(previous, text, { check = true } = {}) {
      const wrapped = asExpression(text, language);
      const converted = convert(previous, wrapped ?? text, check);
      if (wrapped === undefined) return converted;
      return { ...converted, problems: converted.problems.map((problem) => unwrapped(problem, text)) };
    },
    rehearse(previous, source) {
      const { program, cell } = load(previous, source, 'load');
      const problems = program.getSemanticDiagnostics(cell);
      programs.leave();
      if (problems.some(({ code }) => notFound.has(code))) host.refresh();
    },
    service(previous, source) {
      const { program, cell } = load(previous, source, 'inService');
      return { service, file: cell.fileName, program };
    },
    refresh() {
      programs.leave();
      host.refresh();
    },
    close: () => service.dispose(),
  };
}

/** Codes for a missing module or missing types. The user may install the module or the types before the next run. */
const notFound: ReadonlySet<number> = new Set([2307, 2688, 2792, 2875, 6053, 7016]);

/**
 * Value of the argument `emitOnlyDtsFiles` of `emit` that omits the declarations. TypeScript declares the argument as a
 * boolean, but internally it is a number with three values.
 */
const onlyCode = 0 as unknown as boolean;

/**
 * Whether a statement declares nothing. The last statement of every cell exports the names that the cell declares, and
 * this list of names may be empty.
 */
const declaresNothing = (statement: ts.Statement): boolean =>
  ts.isExpressionStatement(statement) ||
  (ts.isExportDeclaration(statement) &&
    !statement.moduleSpecifier &&
    statement.exportClause !== undefined &&
    ts.isNamedExports(statement.exportClause) &&
    statement.exportClause.elements.length === 0);

function emit(
  program: ts.Program,
  cell: ts.SourceFile,
  transformers: ts.CustomTransformers,
  what = false,
): { output: string; emitted: string | undefined } {
  let output = '';
  let emitted: string | undefined;
  const write = (name: string, text: string) => {
    if (name.endsWith('.d.ts')) emitted = text;
    else output = text;
  };
  program.emit(cell, write, undefined, what, transformers);
  return { output, emitted };
}

/**
 * Returns declarations that type every name of a cell as `any`. Used for a cell with a type that TypeScript can't
 * write, such as the type of a private symbol.
 */
const looseDeclarations = (cell: ts.SourceFile): string =>
  declaredNames(cell)
    .map((name) => `declare let ${name}: any;\n`)
    .join('');
