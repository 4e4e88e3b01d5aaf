import ts from 'typescript-6';
import type { Finding } from '#shared/languageMessages.ts';
import type { CellChain } from './cellChain.ts';

const severities: Readonly<Record<ts.DiagnosticCategory, Finding['severity']>> = {
  [ts.DiagnosticCategory.Error]: 'error',
  [ts.DiagnosticCategory.Warning]: 'warning',
  [ts.DiagnosticCategory.Suggestion]: 'hint',
  [ts.DiagnosticCategory.Message]: 'hint',
};

/** What the checker has against a cell, and what in it is deprecated or not used. */
export function findingsOf(chain: CellChain, id: string): Finding[] {
  const cell = chain.of(id);
  if (!cell) return [];
  const { service, file } = cell;
  const source = chain.sourceOf(file);
  const errors = [...service.getSyntacticDiagnostics(file), ...service.getSemanticDiagnostics(file)];
  const hints = service
    .getSuggestionDiagnostics(file)
    .filter((one) => isWanted(one) && !(one.reportsUnnecessary && source && isOfCell(source, one.start)));
  return [...errors, ...hints].map(findingOf);
}

// The other suggestions are about how to write, which is the person's own.
const isWanted = (one: ts.Diagnostic): boolean =>
  one.reportsUnnecessary !== undefined || one.reportsDeprecated !== undefined;

/** Whether something is declared by the cell itself, and not within a function: a later cell may use it. */
function isOfCell(source: ts.SourceFile, position: number): boolean {
  const visit = (node: ts.Node): boolean => {
    if (position < node.getFullStart() || position >= node.getEnd()) return false;
    if (isInner(node) && position >= bodyStart(node)) return true;
    return ts.forEachChild(node, visit) ?? false;
  };
  return !visit(source);
}

const isInner = (node: ts.Node): boolean => ts.isFunctionLike(node) || ts.isClassLike(node) || ts.isBlock(node);

/** Behind the name of a function or class, which belongs to what is around it. */
function bodyStart(node: ts.Node): number {
  const { name } = node as { name?: ts.Node };
  return name && (ts.isFunctionDeclaration(node) || ts.isClassDeclaration(node)) ? name.getEnd() : node.getStart();
}

function findingOf(one: ts.Diagnostic): Finding {
  const start = one.start ?? 0;
  const tag = one.reportsUnnecessary ? 'unnecessary' : one.reportsDeprecated ? 'deprecated' : undefined;
  return {
    span: { start, end: start + (one.length ?? 0) },
    message: ts.flattenDiagnosticMessageText(one.messageText, '\n'),
    code: one.code,
    severity: severities[one.category],
    ...(tag && { tag }),
  };
}
