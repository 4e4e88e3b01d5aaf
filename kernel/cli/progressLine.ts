/** How often progress is written: a terminal is overwritten, a log gets a line. */
const pause = { terminal: 100, log: 5000 } as const;

/** Progress on stderr: one line that is written over in a terminal, a line now and then elsewhere. */
export function progressLine(): { show: (text: string) => void; clear: () => void } {
  const isTerminal = process.stderr.isTTY;
  let last = 0;
  let isShown = false;
  return {
    show: (text) => {
      const now = performance.now();
      if (last !== 0 && now - last < pause[isTerminal ? 'terminal' : 'log']) return;
      last = now;
      isShown = isTerminal;
      process.stderr.write(isTerminal ? `\r\u001b[2K${text.slice(0, process.stderr.columns - 1)}` : `${text}\n`);
    },
    clear: () => {
      if (isShown) process.stderr.write('\r\u001b[2K');
      isShown = false;
    },
  };
}
