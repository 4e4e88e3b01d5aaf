import type { CheckReport, CheckResult, CheckStatus } from '#cluster/result.ts';
import { escapeHtml } from '#shared/format/markup.ts';
import { formatFix } from './fixText.ts';
import { type Group, isGroup, withGroups } from './groups.ts';
import { formatProgress, type RunProgress } from './progress.ts';
import { evidenceText } from './reportMarkdown.ts';
import { byCategory, type CategoryResults, isProblem, statusSymbols, summaryOf } from './summary.ts';

/**
 * The colors of the editor, else of JupyterLab, else defaults; only the marks are colored, so that text keeps the
 * contrast of the theme. Every rule is limited to our class, because outputs of a notebook may share one document.
 */
const style = `<style>
.lance-checks summary{cursor:pointer}
.lance-checks ul{list-style:none;margin:0 0 .6em;padding:0 0 0 1.2em}
.lance-checks li{margin:.2em 0}
.lance-checks li>div,.lance-checks li>details:not(.one),.lance-checks .one>:not(summary){margin:.2em 0 .2em 1.7em}
.lance-checks .one>summary{list-style:none}
.lance-checks code,.lance-checks pre{font-family:var(--vscode-editor-font-family,var(--jp-code-font-family,monospace))}
.lance-checks pre{margin:.2em 0;padding:.4em .6em;white-space:pre-wrap;overflow-wrap:anywhere;color:inherit;background:var(--vscode-textCodeBlock-background,var(--jp-layout-color2,rgba(127,127,127,.15)))}
.lance-checks i{display:inline-block;width:1.3em;font-style:normal;font-weight:bold;text-align:center}
.lance-checks .pass{color:var(--vscode-testing-iconPassed,var(--jp-success-color1,#388a34))}
.lance-checks .warn{color:var(--vscode-editorWarning-foreground,var(--jp-warn-color1,#b58900))}
.lance-checks .fail{color:var(--vscode-errorForeground,var(--jp-error-color1,#c72e0f))}
.lance-checks .d{opacity:.75}
</style>`;

/**
 * Renders a report for a notebook, with categories that unfold; those with problems are open. All text is escaped, and
 * the HTML contains no script.
 */
export const reportHtml = (report: CheckReport): string =>
  framed(
    `<p><strong>Cluster ${escapeHtml(report.profile)}</strong> ${escapeHtml(summaryOf(report))}</p>${leftHtml(report)}`,
    byCategory(report.results),
    report.results,
  );

/** Renders an unfinished run: the problems so far, without the checks that they block. */
export const runningHtml = (run: RunProgress): string =>
  framed(
    `<p><strong>Cluster ${escapeHtml(run.profile)}</strong> ${barOf(run)} ${escapeHtml(formatProgress(run))}</p>`,
    byCategory(run.results.filter(isProblem)),
    run.results,
  );

const barOf = ({ results, total }: RunProgress): string =>
  total === undefined ? '<progress></progress>' : `<progress value="${results.length}" max="${total}"></progress>`;

/** Objects that a probe could not remove. */
const leftHtml = ({ left = [] }: CheckReport): string =>
  left
    .map((sentence) => `<p><i class="warn" aria-hidden="true">‼</i> left behind: ${escapeHtml(sentence)}</p>`)
    .join('');

const framed = (head: string, categories: readonly CategoryResults[], all: readonly CheckResult[]): string =>
  `${style}<div class="lance-checks">${head}${categories.map((each) => categoryHtml(each, all)).join('')}</div>`;

function categoryHtml({ title, results }: CategoryResults, all: readonly CheckResult[]): string {
  const counts = Object.entries(statusSymbols).flatMap(([status, { word }]) => {
    const count = results.filter((result) => result.status === status).length;
    return count === 0 ? [] : [`${count} ${word}`];
  });
  const isOpen = results.some(isProblem);
  return (
    `<details${isOpen ? ' open' : ''}><summary><strong>${escapeHtml(title)}</strong> ` +
    `<span class="d">${escapeHtml(counts.join(', '))}</span></summary><ul>${withGroups(results, all).map(rowHtml).join('')}</ul></details>`
  );
}

const rowHtml = (row: CheckResult | Group): string => (isGroup(row) ? groupHtml(row) : resultHtml(row));

function groupHtml({ status, reason, alike }: Group): string {
  const items = alike.map(({ id, title }) => `<li>${escapeHtml(title)} ${codeOf(id)}</li>`);
  const list = `<details><summary>${alike.length} checks</summary><ul>${items.join('')}</ul></details>`;
  return `<li>${lineOf(status, reason)}${list}</li>`;
}

/** A passed check is one line that unfolds; other checks show the reason and the fix at once. */
function resultHtml(result: CheckResult): string {
  const { status, title, id, sentence } = result;
  const line = `${lineOf(status, title)} ${codeOf(id)}`;
  const evidence = result.evidence.map(evidenceText).join('\n\n');
  if (status === 'pass')
    return `<li><details class="one"><summary>${line}</summary><div>${escapeHtml(sentence)}</div>${blockOf(evidence)}</details></li>`;
  const folded = evidence === '' ? '' : foldedBlock('Evidence', evidence);
  return `<li>${line}<div>${escapeHtml(sentence)}</div>${fixHtml(result)}${folded}</li>`;
}

function lineOf(status: CheckStatus, text: string): string {
  const { mark, word } = statusSymbols[status];
  return `<i class="${status}" aria-hidden="true">${mark}</i> ${word}: ${escapeHtml(text)}`;
}

const codeOf = (id: string): string => `<code class="d">${escapeHtml(id)}</code>`;

function fixHtml(result: CheckResult): string {
  if ((result.status !== 'fail' && result.status !== 'warn') || result.mend === undefined) return '';
  const { command, document, advice } = formatFix(result.mend);
  const isShort = command !== undefined && !command.includes('\n');
  return [
    advice === undefined ? '' : `<div>${escapeHtml(advice)}</div>`,
    isShort ? `<div>${blockOf(command)}</div>` : '',
    // A command of several lines contains the manifest, so the manifest is not shown beside it.
    command === undefined || isShort ? '' : foldedBlock(`Fix: ${document?.title ?? 'command'}`, command),
    document === undefined || (command !== undefined && !isShort) ? '' : foldedBlock(document.title, document.text),
  ].join('');
}

const blockOf = (text: string): string => (text === '' ? '' : `<pre>${escapeHtml(text)}</pre>`);

const foldedBlock = (title: string, text: string): string =>
  `<details><summary>${escapeHtml(title)}</summary>${blockOf(text)}</details>`;
