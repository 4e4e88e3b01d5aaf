import type { CheckReport, CheckResult } from '#cluster/check.ts';
import { mendText } from '#cluster/report/mendText.ts';
import { looks, mendOf } from './checkWords.ts';
import { codeBlock, plainText } from './markdownText.ts';

/** One check as a page: what it says, all that it asked and saw, what mends it. */
export function evidenceMarkdown(result: CheckResult, report: CheckReport): string {
  const { id, title, status, sentence, evidence, milliseconds, attempts } = result;
  const mend = mendOf(result);
  const parts = mend && mendText(mend);
  const tries = attempts > 1 ? `, ${attempts} attempts` : '';
  return [
    `# ${plainText(title)}`,
    `**${looks[status].word}** · \`${id}\` · ${milliseconds} ms${tries} · profile ${plainText(report.profile)} · ${report.startedAt}`,
    plainText(sentence),
    '## What was asked, and what came back',
    ...(evidence.length === 0 ? ['Nothing was asked.'] : []),
    ...evidence.map(({ asked, saw }) => codeBlock(`${asked}\n→ ${saw}`)),
    ...(parts ? ['## What mends it'] : []),
    ...(parts?.advice === undefined ? [] : [plainText(parts.advice)]),
    ...(parts?.document
      ? [`${plainText(parts.document.title)}:`, codeBlock(parts.document.text.trimEnd(), parts.document.language)]
      : []),
    ...(parts?.command === undefined ? [] : [codeBlock(parts.command, 'sh')]),
  ]
    .join('\n\n')
    .concat('\n');
}
