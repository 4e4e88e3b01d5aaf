import { CatalogError } from '#shared/errors.ts';
import { escapeHtml } from '#shared/format/markup.ts';
import { stopwatchText } from '#shared/format/times.ts';
import type { Progress, ProgressOptions } from './displayTypes.ts';
import { liveOutput, type LiveOutput } from './live.ts';
import { htmlAndText, type RenderedOutput } from './mimeBundle.ts';
import { isAsyncIterable, isRecordBatch } from './typeGuards.ts';

type State = {
  done: number;
  total: number | undefined;
  label: string;
  /** `rows` if rows are counted instead of iterations. */
  unit: 'rows' | undefined;
  startedAt: number;
  end: 'done' | 'stopped' | undefined;
};

type ProgressDeps = {
  /** Opens an output; each call of the returned function replaces its content. */
  open: () => (shown: RenderedOutput) => void;
  /** Aborts when the running cell is interrupted, because the loop itself can't detect the interrupt. */
  signal: () => AbortSignal;
  now: () => number;
};

export function createProgress(parts: ProgressDeps): Progress {
  function progress(source: unknown, options: ProgressOptions = {}): unknown {
    const { total = lengthOf(source), label = '', rows = total === undefined } = options;
    if (!isAsyncIterable(source) && !isIterable(source))
      throw new CatalogError(
        'InvalidInput',
        'Expected an iterable or an async iterable for progress.',
        'Pass an array, a Set, a generator or a query: for (const x of progress(xs)) { … }.',
      );
    const unit = options.rows === true ? ('rows' as const) : undefined;
    const begun = { done: 0, total, label, unit, end: undefined };
    const track = () => tracker(parts, { ...begun, startedAt: parts.now() }, rows);
    // The result can be iterated like the source: by `for await` if the source is async iterable, else by `for … of`.
    return isAsyncIterable(source)
      ? { [Symbol.asyncIterator]: () => followAsync(source, track()) }
      : { [Symbol.iterator]: () => follow(source, track()) };
  }
  return progress as Progress;
}

type Tracker = { start(): void; step(given: unknown): void; end(how: 'done' | 'stopped'): void };

function tracker({ open, signal, now }: ProgressDeps, state: State, countsRows: boolean): Tracker {
  let live: LiveOutput | undefined;
  const stop = new AbortController();
  const draw = () => showProgress(state, now());
  const end = (how: 'done' | 'stopped') => {
    state.end = how;
    stop.abort();
    live?.end(draw);
  };
  return {
    start() {
      // The output is opened when the loop starts, because the loop may run in another cell than the one that created
      // the progress.
      live = liveOutput(open(), now);
      state.startedAt = now();
      signal().addEventListener('abort', () => end('stopped'), { signal: stop.signal, once: true });
      live.update(draw);
    },
    step(given) {
      if (countsRows && isRecordBatch(given)) {
        state.unit = 'rows';
        state.done += given.numRows;
      } else state.done++;
      live?.update(draw);
    },
    end,
  };
}

function* follow<T>(source: Iterable<T>, track: Tracker): Generator<T, void, undefined> {
  let how: 'done' | 'stopped' = 'stopped';
  track.start();
  try {
    for (const each of source) {
      yield each;
      track.step(each);
    }
    how = 'done';
  } finally {
    // Runs also after a `break`, and after an error in the loop or in the source.
    track.end(how);
  }
}

async function* followAsync<T>(source: AsyncIterable<T>, track: Tracker): AsyncGenerator<T, void, undefined> {
  let how: 'done' | 'stopped' = 'stopped';
  track.start();
  try {
    for await (const each of source) {
      yield each;
      track.step(each);
    }
    how = 'done';
  } finally {
    track.end(how);
  }
}

function showProgress({ done, total, label, unit, startedAt, end }: State, now: number): RenderedOutput {
  const seconds = (now - startedAt) / 1000;
  const rate = seconds > 0 ? done / seconds : 0;
  const share = total !== undefined && total > 0 ? Math.min(1, done / total) : undefined;
  const name = label ? `${label}: ` : '';
  const whole = total === undefined ? '' : ` of ${total.toLocaleString('en-US')}`;
  const count = `${done.toLocaleString('en-US')}${whole}${unit ? ` ${unit}` : ''}`;
  const percent = share === undefined ? '' : ` (${Math.floor(share * 100)} %)`;
  const times = [stopwatchText(seconds)];
  if (rate > 0) times.push(`${rateText(rate)}${unit ? ` ${unit}` : ''}/s`);
  if (end === undefined && total !== undefined && rate > 0 && done < total)
    times.push(`${stopwatchText((total - done) / rate)} left`);
  const state = end === 'stopped' ? 'stopped at ' : '';
  const text = `${name}${state}${count}${percent} · ${times.join(' · ')}`;
  return htmlAndText(`<div>${barHtml(end === 'done' ? 1 : share, end)} ${escapeHtml(text)}</div>`, text);
}

/** Returns a progress bar; while the total is unknown, the bar is indeterminate. */
function barHtml(share: number | undefined, end: State['end']): string {
  if (share === undefined && end === undefined) return '<progress></progress>';
  return `<progress value="${share === 1 ? 1 : (share ?? 0).toFixed(4)}" max="1"></progress>`;
}

const rateText = (rate: number): string =>
  rate >= 100 ? Math.round(rate).toLocaleString('en-US') : rate.toPrecision(3).replace(/\.?0+$/, '');

const isIterable = (value: unknown): value is Iterable<unknown> =>
  value !== null && value !== undefined && typeof (value as Partial<Iterable<unknown>>)[Symbol.iterator] === 'function';

/** Returns the number of items, if the source knows the number. */
function lengthOf(source: unknown): number | undefined {
  if (typeof source !== 'object' || source === null || isAsyncIterable(source)) return undefined;
  const { length, size, numRows } = source as { length?: unknown; size?: unknown; numRows?: unknown };
  return [length, size, numRows].find((each) => typeof each === 'number');
}
