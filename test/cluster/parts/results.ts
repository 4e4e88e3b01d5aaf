import type { CheckReport } from '#cluster/check.ts';
import type { CheckId } from '#cluster/checkIds.ts';
import type { Mend } from '#cluster/mend.ts';

export const sentenceOf = ({ results }: CheckReport, id: CheckId): string =>
  results.find((one) => one.id === id)?.sentence ?? 'There is no such result.';

export function mendOf({ results }: CheckReport, id: CheckId): Mend | undefined {
  const result = results.find((one) => one.id === id);
  return result && 'mend' in result ? result.mend : undefined;
}
