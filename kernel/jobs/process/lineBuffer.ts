/** Longer lines are cut: nobody reads them, and they would be kept in memory until they end. */
const longest = 64 << 10;
const restMs = 500;

export type LineBuffer = { add(text: string): void; flush(): void };

/**
 * Hands text on in whole lines, the rest of a line after half a second: a secret that came in two pieces is seen as one.
 */
export function lineBuffer(onLines: (text: string) => void): LineBuffer {
  let rest = '';
  let timer: NodeJS.Timeout | undefined;
  const give = (text: string): void => {
    if (text !== '') onLines(text);
  };
  const flush = (): void => {
    clearTimeout(timer);
    timer = undefined;
    give(rest);
    rest = '';
  };
  return {
    add: (text) => {
      rest += text;
      const end = rest.lastIndexOf('\n') + 1;
      give(rest.slice(0, end));
      rest = rest.slice(end);
      if (rest.length > longest) flush();
      else if (rest !== '') timer ??= setTimeout(flush, restMs);
    },
    flush,
  };
}
