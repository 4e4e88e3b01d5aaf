import { categoryTitles, type CheckCategory, type CheckId } from '#cluster/checkIds.ts';
import { isProblem, isUnknown } from '#cluster/report/summary.ts';
import { countOf } from '#cluster/runChecks.ts';
import { codeBlock, codeSpan, type InertMarkdown, markdown, paragraphs, plainText } from '../host/inertMarkdown.ts';
import type { TreeRow } from '../host/treeRow.ts';
import { type CheckRunState, type CheckRow, checksOf } from './checkBoard.ts';
import { countsText, statusIcon, statusIcons, fixOf, fixCommand, worstOf } from './checkWords.ts';

/** A row of the view, as VS Code passes it to a command. Each command validates the row. */
export type CheckNode =
  | { readonly kind: 'category'; readonly category: CheckCategory }
  | { readonly kind: 'check'; readonly id: CheckId; readonly category: CheckCategory };

/**
 * Returns the rows under `parent`, or the top-level rows if there is no parent.
 * @param onlyProblems whether to omit checks that passed or don't apply; pending checks are always included
 */
export function rowsOf(
  board: CheckRunState,
  parent: CheckNode | undefined,
  onlyProblems: boolean,
): readonly CheckNode[] {
  if (parent?.kind === 'check') return [];
  const rows = checksOf(board, parent?.category).filter((row) => !onlyProblems || isShownAsProblem(row));
  if (parent) return rows.map(({ id, category }) => ({ kind: 'check', id, category }));
  const categories = [...new Set(rows.map(({ category }) => category))];
  // Categories that don't apply come last.
  const isAside = (category: CheckCategory): number => {
    const all = checksOf(board, category);
    return reasonAside(all) === undefined || all.some(({ result }) => result && isUnknown(result)) ? 0 : 1;
  };
  return categories.toSorted((a, b) => isAside(a) - isAside(b)).map((category) => ({ kind: 'category', category }));
}

/**
 * Returns the reason why these checks did not run, such as `The profile is not on AWS.`, if all have the same reason.
 */
function reasonAside(rows: readonly CheckRow[]): string | undefined {
  const reasons = rows.map(({ result, progress }) =>
    result?.status === 'skipped' && progress === undefined ? (result.reason ?? result.sentence) : undefined,
  );
  return reasons.every((reason) => reason === reasons[0]) ? reasons[0] : undefined;
}

const isShownAsProblem = ({ result, progress }: CheckRow): boolean =>
  progress !== undefined || (result !== undefined && isProblem(result));

/** Maximum number of command lines in a tooltip. */
const mostLines = 5;

/** Renders a row without `vscode`, so that tests need no editor. */
export function renderRow(board: CheckRunState, node: CheckNode): TreeRow {
  if (node.kind === 'category') return renderCategory(board, node.category);
  const row = checksOf(board, node.category).find(({ id }) => id === node.id);
  return renderCheck(row ?? { ...node, title: node.id, result: undefined, progress: undefined });
}

function renderCategory(board: CheckRunState, category: CheckCategory): TreeRow {
  const rows = checksOf(board, category);
  const title = categoryTitles[category];
  const counts = countOf(rows.flatMap(({ result, progress }) => (result && progress === undefined ? [result] : [])));
  const pending = rows.filter(({ progress }) => progress !== undefined).length;
  const isAsking = rows.some(({ progress }) => progress === 'asking');
  const told = [countsText(counts), reasonAside(rows) ?? ''].filter(Boolean).join(' · ');
  const left = pending > 0 ? `${rows.length - pending} of ${rows.length}` : '';
  const description = [left, told].filter(Boolean).join(' · ');
  const look = pending > 0 ? statusIcons[isAsking ? 'asking' : 'waiting'] : statusIcons[worstOf(counts)];
  // A category is collapsed if no check needs attention. VS Code remembers by row id whether the user expanded a row.
  // The id contains `isOpen`, so that a change of `isOpen` takes effect.
  const isOpen = pending > 0 || counts.fail + counts.warn + counts.blocked > 0;
  return {
    id: `${category}:${isOpen ? 'open' : 'folded'}`,
    label: title,
    description,
    tooltip: plainText(`${title}: ${description}`),
    spoken: `${title}, ${[pending > 0 ? `${pending} pending` : '', told].filter(Boolean).join(', ')}`,
    icon: iconOf(look),
    state: isOpen ? 'expanded' : 'collapsed',
    contextValue: 'category',
  };
}

function renderCheck({ id, title, result, progress }: CheckRow): TreeRow {
  const look = progress ? statusIcons[progress] : result ? statusIcon(result) : statusIcons.waiting;
  const sentence = progress === undefined ? (result?.sentence ?? '') : '';
  const mend = progress === undefined ? fixOf(result) : undefined;
  return {
    id,
    label: title,
    // A passed check has no description, because its title already states what is true.
    description: look === statusIcons.pass ? '' : [look.word, sentence].filter(Boolean).join(' · '),
    tooltip: progress === undefined && result ? tooltipOf(result) : plainText(`${title}: ${look.word}`),
    spoken: [`${title}: ${look.word}`, sentence, mend ? 'A fix is available.' : '']
      .filter(Boolean)
      .join('. ')
      .replaceAll('..', '.'),
    icon: iconOf(look),
    state: 'leaf',
    contextValue: contextOf(progress ?? result?.status ?? 'waiting', mend),
  };
}

/**
 * Builds the `viewItem` value: kind, status, whether there is a fix to copy, and whether the fix has objects to apply.
 */
const contextOf = (status: string, mend: ReturnType<typeof fixOf>): string =>
  [
    'check',
    status,
    ...(mend ? [mend.kind === 'advice' ? 'advice' : 'command'] : []),
    ...(mend?.kind === 'objects' ? ['objects'] : []),
  ].join('.');

const iconOf = ({ icon, color }: { readonly icon: string; readonly color?: string }): TreeRow['icon'] => ({
  id: icon,
  ...(color !== undefined && { color }),
});

function tooltipOf(result: NonNullable<CheckRow['result']>): InertMarkdown {
  const { id, title, sentence, evidence, milliseconds } = result;
  const mend = fixOf(result);
  const shown = evidence.slice(0, 4);
  const omitted = evidence.length - shown.length;
  return paragraphs([
    markdown`**${plainText(title)}** — ${plainText(statusIcon(result).word)}`,
    plainText(sentence),
    ...(shown.length > 0 ? [codeBlock(shown.map(({ asked, saw }) => `${asked}\n  → ${saw}`).join('\n'))] : []),
    ...(omitted > 0 ? [markdown`… and ${omitted} more: choose "Show Evidence".`] : []),
    ...(mend?.kind === 'advice' ? [plainText(mend.text)] : []),
    ...(mend && mend.kind !== 'advice'
      ? [
          markdown`
Fix:
          `,
          codeBlock(firstLines(fixCommand(mend)), 'sh'),
        ]
      : []),
    markdown`${codeSpan(id)} · ${milliseconds} ms`,
  ]);
}

/** Shortens a command, because a tooltip with a whole manifest would hide the rows under the pointer. */
const firstLines = (text: string): string => {
  const lines = text.split('\n');
  return lines.length <= mostLines ? text : [...lines.slice(0, mostLines), '…'].join('\n');
};
