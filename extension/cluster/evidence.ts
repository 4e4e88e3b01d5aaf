import type { CheckReport, CheckResult } from '#cluster/check.ts';
import { mendText } from '#cluster/report/mendText.ts';
import { looks, mendOf } from './checkWords.ts';
import { codeBlock, plainText } from '../host/markdownText.ts';

/** One check as a page: what it says, all that it asked and saw, what mends it. */
export function evidenceMarkdown(result: CheckResult, report: CheckReport): string {
  const { id, title, status, sentence, evidence, milliseconds, attempts } = result;
  const mend = mendOf(result);
  const { command, document, advice } = mend ? mendText(mend) : {};
  const tries = attempts > 1 ? `, ${attempts} attempts` : '';
  return [
    `# ${plainText(title)}`,
    `**${looks[status].word}** · \`${id}\` · ${milliseconds} ms${tries} · profile ${plainText(report.profile)} · ${report.startedAt}`,
    plainText(sentence),
    '## What was asked, and what came back',
    ...(evidence.length === 0 ? ['Nothing was asked.'] : []),
    ...evidence.map(({ asked, saw }) => codeBlock(`${asked}\n→ ${saw}`)),
    ...(mend ? ['## What mends it'] : []),
    ...(advice === undefined ? [] : [plainText(advice)]),
    // The command that gives objects to a cluster has all of them in it.
    ...(document && mend?.kind === 'document'
      ? [`${plainText(document.title)}:`, codeBlock(document.text.trimEnd(), document.language)]
      : []),
    ...(command === undefined ? [] : [codeBlock(command, 'sh')]),
  ]
    .join('\n\n')
    .concat('\n');
}
