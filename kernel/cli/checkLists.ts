import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { categoryTitles, checkIds, checkIdsByCategory, isCheckId, type CheckId } from '#cluster/checkIds.ts';
import { docsPath } from '#cluster/report/summary.ts';
import { UsageError } from './command.ts';
import { installation } from './installation.ts';

/** What an option names. @throws UsageError for what is no check */
export function checkIdOf(option: string, text: string): CheckId {
  if (isCheckId(text)) return text;
  throw new UsageError(
    `${option} needs the id of a check, and "${text}" is none: lance-catalog check --list names them.`,
  );
}

/** The checks that `--only` names, one by one or by their category. @throws UsageError for what is neither */
export function idsOf(texts: readonly string[]): readonly CheckId[] {
  const named = texts.flatMap((text) => text.split(',').map((each) => each.trim())).filter((each) => each !== '');
  if (named.length === 0) throw new UsageError('--only needs the id of a check.');
  return named.flatMap((each) => idsOfCategory(each) ?? checkIdOf('--only', each));
}

const idsOfCategory = (text: string): readonly CheckId[] | undefined =>
  Object.hasOwn(checkIdsByCategory, text) ? checkIdsByCategory[text as keyof typeof checkIdsByCategory] : undefined;

/** `--list`: every check by its category, with what is so when it passes. */
export async function listAll(asJson: boolean): Promise<number> {
  const { listChecks } = await import('#cluster/clouds.ts');
  const checks = listChecks();
  if (asJson) {
    console.log(JSON.stringify(checks, null, 2));
    return 0;
  }
  const width = Math.max(...checkIds.map((id) => id.length));
  const blocks = Object.entries(categoryTitles).flatMap(([category, title]) => {
    const own = checks.filter((check) => check.category === category);
    const lines = own.map((check) => `  ${check.id.padEnd(width)}  ${check.title}${check.writes ? ' (--probe)' : ''}`);
    return lines.length === 0 ? [] : [[`${category}: ${title}`, ...lines].join('\n')];
  });
  console.log(blocks.join('\n\n'));
  return 0;
}

/** `--explain ID`: the check's section of the documentation. */
export async function explain(id: CheckId): Promise<number> {
  const text = await readFile(join(installation, docsPath), 'utf8');
  const section = text.split(/^(?=##? )/m).find((each) => each.startsWith(`## ${id}\n`));
  console.log(section?.replace(/^## /, '').trimEnd() ?? `${id} is not explained in ${docsPath}.`);
  return 0;
}
