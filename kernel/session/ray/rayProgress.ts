import type { RayPod } from '#cluster/kuberay/rayPods.ts';
import type { RayProgress } from '#cluster/kuberay/waitForRay.ts';
import { alignColumns, escapeHtml, htmlRow } from '#shared/markup.ts';
import { htmlAndText, type Shown } from '#session/display/shown.ts';

/** Pods that are shown; of more it is said how many. */
const most = 20;

/** How far a RayCluster is, for the output of a cell: a sentence, its pods, and what may go wrong. */
export function showProgress({ sentence, pods }: RayProgress, warnings: readonly string[]): Shown {
  const rows = pods.slice(0, most).map(rowOf);
  const omitted = pods.length > most ? [`… and ${pods.length - most} more pods`] : [];
  const table =
    rows.length === 0 ? '' : `<table><tbody>${rows.map((row) => htmlRow('td', row)).join('')}</tbody></table>`;
  const notes = [...omitted, ...warnings];
  const html = `<p>${escapeHtml(sentence)}</p>${table}${notes.map((note) => `<p>${escapeHtml(note)}</p>`).join('')}`;
  return htmlAndText(html, [sentence, ...alignColumns(rows, 200), ...notes].join('\n'));
}

const rowOf = ({ name, isHead, group, state, reason }: RayPod): [string, string, string, string] => [
  name,
  isHead ? 'head' : `workers ${group ?? ''}`,
  state,
  reason ?? '',
];
