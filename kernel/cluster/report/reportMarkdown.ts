import type { CheckReport, CheckResult, Evidence } from '#cluster/result.ts';
import { escapeHtml, oneLine } from '#shared/format/markup.ts';
import { formatFix } from './fixText.ts';
import { type Group, isGroup, withGroups } from './groups.ts';
import { byCategory, docsOf, isProblem, statusSymbols, summaryOf } from './summary.ts';

/** Returns the link target for a check, or `undefined` if the viewer can't follow links. */
type DocsOf = (id: string) => string | undefined;

type MarkdownOptions = {
  /** Link targets of checks. Default: paths from the root of the repository. */
  readonly docs?: DocsOf | undefined;
};

/**
 * Renders a report as a document: the summary, the problems, and a table per category with its evidence folded below.
 */
export function reportMarkdown(report: CheckReport, { docs = docsOf }: MarkdownOptions = {}): string {
  const problems = report.results.filter(isProblem);
  const parts = [
    `# Cluster ${escaped(report.profile)}`,
    `${summaryOf(report)} Started at ${report.startedAt}.`,
    ...(report.left ?? []).map((sentence) => `**Left behind:** ${escaped(sentence)}`),
    ...(problems.length === 0 ? [] : ['## Problems', ...problems.map((result) => problemText(result, docs))]),
    ...byCategory(report.results).flatMap(({ title, results }) => [
      `## ${title}`,
      tableOf(withGroups(results, report.results), docs),
      ...(results.some(({ evidence }) => evidence.length > 0) ? [folded('Evidence', evidenceOf(results))] : []),
    ]),
  ];
  return `${parts.join('\n\n')}\n`;
}

function linkTo(id: string, docs: DocsOf): string {
  const target = docs(id);
  return target === undefined ? `\`${id}\`` : `[${id}](${target})`;
}

function problemText(result: CheckResult, docs: DocsOf): string {
  const { mark, word } = statusSymbols[result.status];
  const fix = result.status === 'fail' || result.status === 'warn' ? result.mend : undefined;
  const { command, document, advice } = fix === undefined ? {} : formatFix(fix);
  return [
    `### ${mark} ${word}: ${escaped(result.title)}`,
    escaped(result.sentence),
    ...(advice === undefined ? [] : [escaped(advice)]),
    ...(document === undefined ? [] : [folded(escapeHtml(document.title), fenced(document.language, document.text))]),
    // A command of several lines is folded, because it repeats the manifest.
    ...(command === undefined
      ? []
      : [command.includes('\n') ? folded('Command', fenced('sh', command)) : fenced('sh', command)]),
    linkTo(result.id, docs),
  ].join('\n\n');
}

function tableOf(rows: readonly (CheckResult | Group)[], docs: DocsOf): string {
  const link = (id: string): string => linkTo(id, docs);
  const lines = rows.map((row) => {
    const { mark, word } = statusSymbols[row.status];
    const cells = isGroup(row)
      ? [`${row.alike.length} checks`, escaped(row.reason), row.alike.map(({ id }) => link(id)).join(', ')]
      : [escaped(row.title), escaped(row.sentence), link(row.id)];
    return `| ${mark} ${word} | ${cells.join(' | ')} |`;
  });
  return ['| Status | Check | Result | ID |', '| --- | --- | --- | --- |', ...lines].join('\n');
}

const evidenceOf = (results: readonly CheckResult[]): string =>
  results
    .filter(({ evidence }) => evidence.length > 0)
    .map(({ id, evidence }) => `\`${id}\`\n\n${fenced('', evidence.map(evidenceText).join('\n\n'))}`)
    .join('\n\n');

export const evidenceText = ({ asked, saw }: Evidence): string => `> ${asked}\n${saw}`;

// The blank lines are needed, because without them the body would be parsed as HTML instead of Markdown.
const folded = (summary: string, body: string): string =>
  `<details><summary>${summary}</summary>\n\n${body}\n\n</details>`;

/** Returns a code block with a fence longer than any in the text. */
function fenced(language: string, text: string): string {
  const longest = Math.max(0, ...[...text.matchAll(/`+/g)].map(([ticks]) => ticks.length));
  const fence = '`'.repeat(Math.max(3, longest + 1));
  return `${fence}${language}\n${text.trimEnd()}\n${fence}`;
}

/** Puts text of a cluster on one line, without Markdown syntax, tags or cell separators. */
const escaped = (text: string): string => oneLine(text).replace(/[\\`*_{}[\]<>#|~!&]/g, String.raw`\$&`);
