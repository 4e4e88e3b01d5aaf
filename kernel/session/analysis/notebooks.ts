import { setTimeout as sleep } from 'node:timers/promises';
import ts from 'typescript-6';
import { type CellProblem, problemsOf } from '#session/compile/cellProblems.ts';
import { sharedDocuments } from '#session/compiler/installedFiles.ts';
import type { NotebookLanguage } from '#shared/notebookLanguage.ts';
import type { Finding, LanguageCell, TablePath, TypedTable } from '#shared/protocol/languageMessages.ts';
import { CellChain, type ChainSettings } from './cellChain.ts';
import { isSqlCell } from './cellSource.ts';
import { findOpenedTables, type OpenedTable } from './openedTables.ts';
import { withTableChanges } from './notebookPrelude.ts';
import { tableSourceBy } from './tableSource.ts';

/** Returns the problems that the kernel would report for a cell, and the cell's deprecated or unused code. */
export function findingsOf(chain: CellChain, id: string): Finding[] {
  const cell = chain.of(id);
  if (!cell) return [];
  const { service, file, code, text } = cell;
  // The values of a query are checked when it runs, because the names of results of `%%sql` are known only then.
  if (isSqlCell(text)) return [];
  const syntax = problemsOf(service.getSyntacticDiagnostics(file), { length: code.length, isSyntax: true });
  // If the cell has syntax errors, only they are returned, because types of incomplete code are unreliable.
  if (syntax.length > 0) return syntax.map(findingOf);
  const problems = problemsOf(service.getSemanticDiagnostics(file), { length: code.length, isSyntax: false });
  const source = chain.sourceOf(file);
  const hints = service.getSuggestionDiagnostics(file).flatMap((one) => hintOf(one, source) ?? []);
  return [...problems.map(findingOf), ...hints];
}

const findingOf = ({ start, end, message, code, severity }: CellProblem): Finding => ({
  span: { start, end },
  message,
  code,
  severity: severity === 'suggestion' ? 'hint' : severity,
});

/** Converts a suggestion about unused or deprecated code. Other suggestions concern style and are ignored. */
function hintOf(one: ts.DiagnosticWithLocation, source: ts.SourceFile | undefined): Finding | undefined {
  const { start, length, code, reportsUnnecessary, reportsDeprecated } = one;
  if (reportsUnnecessary === undefined && reportsDeprecated === undefined) return undefined;
  if (reportsUnnecessary && source && isOfCell(source, start)) return undefined;
  return {
    span: { start, end: start + length },
    message: ts.flattenDiagnosticMessageText(one.messageText, '\n'),
    code,
    severity: 'hint',
    tag: reportsUnnecessary ? 'unnecessary' : 'deprecated',
  };
}

/** Whether a position is at the top level of a cell. A later cell may use the declarations at the top level. */
function isOfCell(source: ts.SourceFile, position: number): boolean {
  const visit = (node: ts.Node): boolean => {
    if (position < node.getFullStart() || position >= node.getEnd()) return false;
    if (isInner(node) && position >= bodyStart(node)) return true;
    return ts.forEachChild(node, visit) ?? false;
  };
  return !visit(source);
}

const isInner = (node: ts.Node): boolean => ts.isFunctionLike(node) || ts.isClassLike(node) || ts.isBlock(node);

/** Returns the start of an inner scope. The name of a function or class belongs to the outer scope. */
function bodyStart(node: ts.Node): number {
  const { name } = node as { name?: ts.Node };
  return name && (ts.isFunctionDeclaration(node) || ts.isClassDeclaration(node)) ? name.getEnd() : node.getStart();
}

type CellAnalysis = {
  /** Receives the findings of a cell when they have changed. */
  publish: (notebook: string, cell: string, findings: Finding[]) => void;
  /** Receives the tables that the cells of a notebook open, when they have changed. */
  openedTables: (notebook: string, tables: TablePath[]) => void;
  /** Called when all cells of a notebook are checked. */
  settled: () => void;
};

type Open = {
  chain: CellChain;
  folder: string;
  language: NotebookLanguage;
  checking: AbortController;
  published: Map<string, string>;
  from: number;
  /**
   * `opened` has the tables that cells open, `told` is the JSON of the tables that the client knows, and `typed` has
   * the tables with known columns.
   */
  opened: OpenedTable[];
  told: string;
  typed: readonly TypedTable[];
};

/** Pause in typing before cells are checked. */
const quietMilliseconds = 150;
/** Number of notebooks whose types are kept. With large packages a checker takes a hundred megabytes. */
const keptAwake = 3;

/**
 * The notebooks of a window. After a change, the changed cell and all later cells are checked again. This is done one
 * cell at a time, so that a request does not wait for all of them.
 */
export class Notebooks {
  /** Notebooks in order of use, the latest last. */
  readonly #open = new Map<string, Open>();
  readonly #told: CellAnalysis;

  constructor(told: CellAnalysis) {
    this.#told = told;
  }

  setCells(notebook: string, settings: ChainSettings, cells: readonly LanguageCell[]): void {
    const { folder, language } = settings;
    let open = this.#open.get(notebook);
    // A change of the folder or the language changes what every name resolves to, so the chain is created again.
    if (open && (open.folder !== folder || open.language !== language)) {
      this.close(notebook);
      open = undefined;
    }
    if (!open) {
      const chain = new CellChain(settings, sharedDocuments);
      open = {
        chain,
        folder,
        language,
        checking: new AbortController(),
        published: new Map(),
        from: 0,
        opened: [],
        told: '[]',
        typed: [],
      };
      this.#open.set(notebook, open);
    }
    const first = open.chain.setCells(cells);
    const ids = new Set(cells.map((cell) => cell.id));
    for (const id of open.published.keys()) if (!ids.has(id)) open.published.delete(id);
    this.#checkFrom(notebook, first);
  }

  setText(notebook: string, cell: string, text: string): void {
    const index = this.#open.get(notebook)?.chain.setText(cell, text) ?? -1;
    if (index >= 0) this.#checkFrom(notebook, index);
  }

  close(notebook: string): void {
    const open = this.#open.get(notebook);
    if (!open) return;
    open.checking.abort();
    this.#open.delete(notebook);
    open.chain.dispose();
  }

  /** Sets the columns of tables that cells open, and checks the cells again if their types change. */
  setTableTypes(notebook: string, tables: readonly TypedTable[]): void {
    const open = this.#open.get(notebook);
    if (!open) return;
    open.typed = tables;
    if (setTables(open)) this.#checkFrom(notebook, 0);
  }

  filesChanged(): void {
    for (const [notebook, { chain }] of this.#open) {
      chain.filesChanged();
      this.#checkFrom(notebook, 0);
    }
  }

  /** Returns the chain of a notebook for a request; `undefined` if it is not open. */
  use(notebook: string): CellChain | undefined {
    const open = this.#open.get(notebook);
    if (!open) return undefined;
    this.#open.delete(notebook);
    this.#open.set(notebook, open);
    for (const [, { chain }] of [...this.#open].slice(0, -keptAwake)) chain.rest();
    return open.chain;
  }

  dispose(): void {
    for (const notebook of this.#open.keys()) this.close(notebook);
  }

  #checkFrom(notebook: string, index: number): void {
    const open = this.#open.get(notebook);
    if (!open) return;
    // Cells that the previous check has not reached must still be checked.
    open.from = Math.min(open.from, index);
    open.checking.abort();
    open.checking = new AbortController();
    void this.#check(notebook, open, open.checking.signal);
  }

  async #check(notebook: string, open: Open, signal: AbortSignal): Promise<void> {
    // The next change aborts this wait. The check of that change includes these cells.
    const isQuiet = await sleep(quietMilliseconds, true, { signal }).catch(() => false);
    if (!isQuiet) return;
    if (this.use(notebook)) this.#findTables(notebook, open);
    for (const ids = open.chain.ids; open.from < ids.length; open.from++) {
      const id = ids[open.from] ?? '';
      const findings = this.use(notebook) ? findingsOf(open.chain, id) : [];
      const written = JSON.stringify(findings);
      if (open.published.get(id) !== written) {
        open.published.set(id, written);
        this.#told.publish(notebook, id, findings);
      }
      await new Promise((resolve) => setImmediate(resolve));
      if (signal.aborted) return;
    }
    open.from = Infinity;
    this.#told.settled();
  }

  /** Finds the tables that cells open. Their columns arrive later, so the check continues without them. */
  #findTables(notebook: string, open: Open): void {
    const { chain } = open;
    open.opened = findOpenedTables(chain.sources, (expression) => tableSourceBy(chain.checker, expression));
    if (setTables(open)) open.from = 0;
    const tables = open.opened.map(({ name, namespacePath }) => ({ name, namespacePath }));
    const told = JSON.stringify(tables);
    if (told === open.told) return;
    open.told = told;
    this.#told.openedTables(notebook, tables);
  }
}

const setTables = ({ chain, opened, typed }: Open): boolean => chain.setTables(withTableChanges(opened, typed));
