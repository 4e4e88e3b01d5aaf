import { CatalogError } from '#shared/errors.ts';
import type { Show } from './display.ts';
import type { Display, DisplayOptions, DisplayValueOptions } from './displayTypes.ts';
import { showAsImage, showSvg } from './images.ts';
import { jsonBundle } from './mimeBundle.ts';
import type { Places } from './places.ts';
import { arrowTable, isArrowSchema, isAsyncIterable, isBatchStream, isRecordBatch } from './shapes.ts';
import type { Shown } from './shown.ts';
import { plotlyBundle, vegaBundle } from './specs.ts';
import { showStream } from './streams.ts';
import { Query } from '#client/query.ts';

export type DisplayParts = {
  places: Places;
  show: Show;
  /** Gets what the function returns, so that a cell can wait for it and does not show it. */
  track: (pending: Promise<void>) => void;
  /** Ends what is shown as it comes when the running cell is interrupted. */
  signal: () => AbortSignal;
};

/** Makes `display`. */
export function createDisplay({ places, show, track, signal }: DisplayParts): Display {
  const mime = (data: Record<string, unknown>, options: DisplayOptions = {}) =>
    places.put({ data: jsonBundle(data), metadata: {} }, options.id);
  const forms =
    <T>(make: (value: T) => Record<string, unknown>) =>
    (value: T, options?: DisplayOptions) =>
      mime(make(value), options);
  const put = (shown: Shown | Promise<Shown>, id: string | undefined): Promise<void> => {
    // Most values are shown before the next statement runs, as `console.log` would.
    const pending =
      shown instanceof Promise ? shown.then((ready) => places.put(ready, id)) : Promise.resolve(places.put(shown, id));
    track(pending);
    return pending;
  };
  const display = (value: unknown, options: DisplayValueOptions = {}): Promise<void> => {
    const limit = checkLimit(options.limit);
    const stream = streamOf(value);
    if (!stream) return put(show(value, { limit, signal: signal() }), options.id);
    const pending = showStream(stream, places.open(options.id), { limit, signal: signal() });
    track(pending);
    return pending;
  };
  return Object.assign(display, {
    mime,
    html: forms((text: string) => ({ 'text/html': text, 'text/plain': text })),
    markdown: forms((text: string) => ({ 'text/markdown': text, 'text/plain': text })),
    latex: forms((text: string) => ({ 'text/latex': asFormula(text), 'text/plain': text })),
    svg: forms((text: string) => showSvg(text).data),
    json: forms(jsonForms),
    vegaLite: forms(vegaBundle),
    plotly: forms(plotlyBundle),
    image: (source: unknown, options: DisplayOptions = {}) => put(showAsImage(source), options.id),
    clear: (wait = false) => places.clear(wait),
  });
}

function jsonForms(value: unknown): Record<string, unknown> {
  const bundle = jsonBundle({ 'application/json': value });
  // Text goes into a bundle as it is; as JSON it has its quotes.
  return { ...bundle, 'text/plain': JSON.stringify(bundle['application/json'], null, 2) };
}

/** Notebooks look for formulas between dollar signs. */
const asFormula = (text: string): string => (/^\s*(?:\$|\\\(|\\\[|\\begin)/.test(text) ? text : `$$${text}$$`);

/** What is read and shown as it comes. A table is async iterable in some versions of Arrow, and there as a whole. */
function streamOf(value: unknown): Parameters<typeof showStream>[0] | undefined {
  if (isBatchStream(value)) return value;
  if (value instanceof Query || isArrowSchema(value) || isRecordBatch(value) || !isAsyncIterable(value))
    return undefined;
  return arrowTable(value) ? undefined : { batches: value };
}

function checkLimit(limit: number | undefined): number | undefined {
  if (limit === undefined || (Number.isSafeInteger(limit) && limit > 0)) return limit;
  throw new CatalogError('InvalidInput', `display can't show ${String(limit)} entries.`, 'Give a whole number from 1.');
}
