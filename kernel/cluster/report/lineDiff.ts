export type DiffLine = { readonly kind: 'same' | 'added' | 'removed'; readonly text: string };

/** What makes one text of another, line by line, with as few lines as can be. Made for manifests: it takes rows × rows. */
export function lineDiff(before: string, after: string): readonly DiffLine[] {
  const [old, now] = [linesOf(before), linesOf(after)];
  // Cell (i, j): how many lines the rests from i and j have in common.
  const common = Array.from({ length: old.length + 1 }, () => new Uint32Array(now.length + 1));
  const at = (i: number, j: number): number => common[i]?.[j] ?? 0;
  for (let i = old.length - 1; i >= 0; i--)
    for (let j = now.length - 1; j >= 0; j--)
      (common[i] as Uint32Array)[j] = old[i] === now[j] ? at(i + 1, j + 1) + 1 : Math.max(at(i + 1, j), at(i, j + 1));
  const lines: DiffLine[] = [];
  let [i, j] = [0, 0];
  while (i < old.length || j < now.length) {
    const [was, is] = [old[i], now[j]];
    if (was !== undefined && was === is) {
      lines.push({ kind: 'same', text: was });
      i++;
      j++;
    } else if (was !== undefined && (is === undefined || at(i + 1, j) >= at(i, j + 1))) {
      lines.push({ kind: 'removed', text: was });
      i++;
    } else if (is !== undefined) {
      lines.push({ kind: 'added', text: is });
      j++;
    }
  }
  return lines;
}

/** The same as text with `+`, `-` or a space in front of each line, and only the lines around a change. */
export function diffText(before: string, after: string, around = 3): string {
  const lines = lineDiff(before, after);
  const isNear = (index: number): boolean =>
    lines.slice(Math.max(0, index - around), index + around + 1).some(({ kind }) => kind !== 'same');
  const marks = { same: ' ', added: '+', removed: '-' } as const;
  const shown: string[] = [];
  let left = false;
  for (const [index, { kind, text }] of lines.entries()) {
    const near = isNear(index);
    if (near) shown.push(`${marks[kind]} ${text}`);
    else if (!left) shown.push('  …');
    left = !near;
  }
  return shown.join('\n');
}

const linesOf = (text: string): readonly string[] => (text === '' ? [] : text.replace(/\n$/, '').split('\n'));
