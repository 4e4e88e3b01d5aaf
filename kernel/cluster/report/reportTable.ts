import type { CheckId } from '#cluster/checkIds.ts';
import type { CheckReport, CheckResult, CheckStatus } from '#cluster/result.ts';
import { escapeControlCharacters } from '#shared/format/markup.ts';
import { formatFix } from './fixText.ts';
import { type Group, isGroup, withGroups } from './groups.ts';
import { byCategory, docsOf, isProblem, isUnknown, statusSymbols, summaryOf } from './summary.ts';

export type TableOptions = {
  /** Whether the terminal supports colors. */
  readonly colours?: boolean | undefined;
  /** Characters per line; sentences wrap there, commands never. Default: 100. */
  readonly width?: number | undefined;
  /** Prints only problems, blocked checks and unknown results. */
  readonly short?: boolean | undefined;
  /** Also prints the sentences of passed checks, and all evidence. */
  readonly verbose?: boolean | undefined;
  /** Returns the command line that prints the fix of a check. Default: the line without the profile. */
  readonly fixCommand?: ((id: CheckId) => string) | undefined;
};

const escapes: Readonly<Record<CheckStatus | 'title' | 'dim' | 'end', string>> = {
  pass: '\u001b[32m',
  warn: '\u001b[33m',
  fail: '\u001b[31m',
  skipped: '\u001b[2m',
  blocked: '\u001b[35m',
  title: '\u001b[1m',
  dim: '\u001b[2m',
  end: '\u001b[0m',
};

const indent = '    ';
const wordWidth = Math.max(...Object.values(statusSymbols).map(({ word }) => word.length));

/**
 * Renders a report for a terminal, with a line per check by category. The lines below a problem have the reason, the
 * fix, and the place of the documentation.
 */
export function reportTable(report: CheckReport, options: TableOptions = {}): string {
  const { colours = false, width = 100, short = false, verbose = false, fixCommand = plainFixCommand } = options;
  const paint = (kind: keyof typeof escapes, text: string): string =>
    colours ? `${escapes[kind]}${text}${escapes.end}` : text;
  const shown = short ? report.results.filter(isOutOfOrder) : report.results;
  const idWidth = Math.max(0, ...shown.map(({ id }) => id.length));
  const line = (status: CheckStatus, id: string, title: string): string => {
    const { mark, word } = statusSymbols[status];
    return `${paint(status, `${mark} ${word.padEnd(wordWidth)}`)}  ${id.padEnd(idWidth)}  ${escapeControlCharacters(title)}`;
  };
  const linesOf = (row: CheckResult | Group): string[] => {
    const more = isGroup(row) ? belowGroup(row, width, short) : below(row, { width, verbose, fixCommand });
    const head = isGroup(row)
      ? line(row.status, `${row.alike.length} checks`, row.reason)
      : line(row.status, row.id, row.title);
    // Problems are not dimmed.
    const isBad = row.status === 'fail' || row.status === 'warn';
    return [head, ...more.map((text) => (isBad ? text : paint('dim', text)))];
  };
  const blocks = byCategory(shown).map(({ title, results }) =>
    [paint('title', title), '-'.repeat(title.length), ...withGroups(results, report.results).flatMap(linesOf)].join(
      '\n',
    ),
  );
  return `${[...blocks, ...leftOf(report), `${escapeControlCharacters(report.profile)}: ${summaryOf(report)}`].join('\n\n')}\n`;
}

/** Returns whether a result is a problem, blocked or unknown. Passed checks and checks that do not apply are not. */
const isOutOfOrder = (result: CheckResult): boolean =>
  isProblem(result) || result.status === 'blocked' || isUnknown(result);

/** Objects that a probe could not remove, for the user to remove. */
const leftOf = ({ left = [] }: CheckReport): string[] =>
  left.length === 0 ? [] : [left.map((sentence) => `‼ left  ${escapeControlCharacters(sentence)}`).join('\n')];

type BelowOptions = {
  readonly width: number;
  readonly verbose: boolean;
  readonly fixCommand: (id: CheckId) => string;
};

const plainFixCommand = (id: CheckId): string => `lance-catalog check --mend ${id}`;

/** Returns the lines below a check; none for a passed one, unless `verbose`. */
function below(result: CheckResult, options: BelowOptions): string[] {
  const { width, verbose } = options;
  const { status, sentence, id, evidence } = result;
  if (status === 'pass' && !verbose) return [];
  const isBad = status === 'fail' || status === 'warn';
  return [
    ...wrapped(sentence, width),
    ...(verbose
      ? evidence.flatMap(({ asked, saw }) => [labelled('request', asked), ...wrapped(saw, width, 'result')])
      : []),
    ...fixLines(result, options),
    ...(isBad ? [labelled('read', docsOf(id))] : []),
  ];
}

/**
 * Names the checks blocked by a failure. Checks that do not apply are not named, because their names are of no
 * interest.
 */
const belowGroup = ({ status, alike }: Group, width: number, short: boolean): string[] =>
  status === 'blocked' && !short ? wrapped(alike.map(({ id }) => id).join(', '), width) : [];

function fixLines({ id, ...verdict }: CheckResult, { width, fixCommand }: BelowOptions): string[] {
  const fix = verdict.status === 'fail' || verdict.status === 'warn' ? verdict.mend : undefined;
  if (fix === undefined) return [];
  const { command, document, advice } = formatFix(fix);
  // A command of several lines is not printed, because users would copy it with the indentation. `--mend` prints it
  // without indentation.
  const isBare = command?.includes('\n') === true;
  return [
    ...(advice === undefined ? [] : wrapped(advice, width, 'fix')),
    ...(command === undefined || isBare ? [] : [labelled('fix', command)]),
    ...(document === undefined && !isBare ? [] : [labelled('review', fixCommand(id))]),
  ];
}

const labelled = (label: string, text: string): string => `${indent}${label.padEnd(8)}${escapeControlCharacters(text)}`;

/** Wraps text at `width` characters, indented and with an optional label; long words stay whole. */
function wrapped(text: string, width: number, label?: string): string[] {
  const lines: string[] = [];
  const start = label === undefined ? indent : labelled('', '');
  for (const word of text.trim().split(/\s+/).map(escapeControlCharacters)) {
    const last = lines.at(-1);
    const fits = last !== undefined && last.length + word.length < Math.max(width, 40);
    if (fits) lines[lines.length - 1] = `${last} ${word}`;
    else lines.push(label !== undefined && lines.length === 0 ? labelled(label, word) : `${start}${word}`);
  }
  return lines;
}
