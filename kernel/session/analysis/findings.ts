import ts from 'typescript-6';
import type { Finding } from '#shared/languageMessages.ts';
import { problemsOf, type CellProblem } from '#session/compile/cellProblems.ts';
import type { CellChain } from './cellChain.ts';

/** What the checker has against a cell, as when it runs, and what in it is deprecated or not used. */
export function findingsOf(chain: CellChain, id: string): Finding[] {
  const cell = chain.of(id);
  if (!cell) return [];
  const { service, file, code } = cell;
  const syntax = problemsOf(service.getSyntacticDiagnostics(file), { length: code.length, isSyntax: true });
  // What is half written has no types to speak of.
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

/** What is not used or not to be used any more. The other suggestions are about how to write, which is the person's own. */
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
