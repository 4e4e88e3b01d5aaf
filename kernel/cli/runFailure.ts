import type { Injected } from '#session/headless/parameters.ts';
import { refusedParameters } from '#session/headless/refusedParameters.ts';
import type { FailedCell } from '#session/headless/runNotebook.ts';

type Shown = {
  /** Whether the error itself stands above already, as an output of the cell. */
  isPrinted: boolean;
  /** The cell of parameters, where some were given. */
  injected?: Injected | undefined;
};

/** Lines of the cell above and below the one that failed. */
const around = 3;

/** Which cell failed, where in it, and why. */
export function describeFailure(failed: FailedCell, notebook: string, { isPrinted, injected }: Shown): string {
  const { cell, traceback, evalue, remark } = failed;
  const text = traceback.join('\n') || evalue;
  const where = notebook === '-' ? 'the notebook' : notebook;
  // Findings of the compiler bring the line with them.
  const hasLine = /^\s*\^+$/m.test(text);
  return [
    `Cell ${cell.number} of ${where} failed.`,
    ...(remark === undefined ? [] : [remark]),
    ...(injected?.source === cell.source ? refusedParameters(text, injected) : []),
    ...(hasLine ? [] : ['', ...excerpt(cell.source, placeIn(text, cell.number))]),
    ...(isPrinted ? [] : ['', text]),
  ].join('\n');
}

type Place = { line: number; column: number };

/** The first place of the cell in the traceback: `[3]:2:7`. */
function placeIn(text: string, number: number): Place | undefined {
  const found = new RegExp(`\\[${number}\\]:(\\d+):(\\d+)`).exec(text);
  return found ? { line: Number(found[1]), column: Number(found[2]) } : undefined;
}

/** The lines around a place with a caret below it; the beginning of the cell where no place is known. */
function excerpt(source: string, place: Place | undefined): string[] {
  const lines = source.split(/\r?\n/);
  const first = Math.max(1, (place?.line ?? 1) - around);
  const last = Math.min(lines.length, (place?.line ?? first) + around);
  const width = String(last).length;
  return lines.slice(first - 1, last).flatMap((text, index) => {
    const line = first + index;
    const isPlace = line === place?.line;
    const shown = `${isPlace ? '>' : ' '} ${String(line).padStart(width)} | ${text}`.trimEnd();
    // Tabs stay tabs, so that the caret stands where the text does.
    const before = text.slice(0, (place?.column ?? 1) - 1).replace(/[^\t]/g, ' ');
    return isPlace ? [shown, `  ${' '.repeat(width)} | ${before}^`] : [shown];
  });
}
