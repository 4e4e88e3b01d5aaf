const form = /^\s*(?<operator>>=|<=|={1,3}|[><%])?\s*(?<count>\d+)\s*$/;

/**
 * Reads how often a breakpoint must be reached: `5` or `== 5` for the fifth time, `> 5`, `>= 5`, `< 5`, `<= 5`, and `% 5`
 * for every fifth.
 * @returns a function to be called each time it is reached, which says whether this one counts; undefined when the text
 * is no such condition
 */
export function hitTest(condition: string | undefined): (() => boolean) | undefined {
  if (condition === undefined || condition.trim() === '') return () => true;
  const { operator = '==', count } = form.exec(condition)?.groups ?? {};
  if (count === undefined) return undefined;
  const limit = Number(count);
  let hits = 0;
  return () => {
    hits++;
    switch (operator) {
      case '>':
        return hits > limit;
      case '>=':
        return hits >= limit;
      case '<':
        return hits < limit;
      case '<=':
        return hits <= limit;
      case '%':
        return limit > 0 && hits % limit === 0;
      default:
        return hits === limit;
    }
  };
}
