/** The name that was meant, where one is written in other capitals, or with one letter wrong, missing, added or swapped. */
export function nearestName(written: string, known: readonly string[]): string | undefined {
  const small = written.toLowerCase();
  return known.find((one) => one.toLowerCase() === small) ?? known.find((one) => isOneEditApart(one, written));
}

function isOneEditApart(a: string, b: string): boolean {
  if (Math.abs(a.length - b.length) > 1) return false;
  let start = 0;
  while (start < a.length && a[start] === b[start]) start++;
  let end = 0;
  while (end < Math.min(a.length, b.length) - start && a[a.length - 1 - end] === b[b.length - 1 - end]) end++;
  const [left, right] = [a.slice(start, a.length - end), b.slice(start, b.length - end)];
  if (left.length <= 1 && right.length <= 1) return true;
  return left.length === 2 && right.length === 2 && left[0] === right[1] && left[1] === right[0];
}
