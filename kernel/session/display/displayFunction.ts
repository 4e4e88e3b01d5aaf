import { Query } from '#catalog/query/query.ts';
import { CatalogError } from '#shared/errors.ts';
import { pluralize } from '#shared/format/markup.ts';
import type { MimeBundle } from '#shared/protocol/kernelMessages.ts';
import { isRecord } from '#shared/records.ts';
import { type ChartSpec, chartSpec } from './chartData.ts';
import type { RenderValue } from './display.ts';
import type { ChartOptions, Display, DisplayOptions, DisplayValueOptions } from './displayTypes.ts';
import { showAsImage, showSvg } from './images.ts';
import { jsonBundle, type RenderedOutput } from './mimeBundle.ts';
import type { DisplaySlots } from './displaySlots.ts';
import {
  arrowTable,
  dataProperty,
  isArrowSchema,
  isAsyncIterable,
  isBatchStream,
  isRecordBatch,
} from './typeGuards.ts';
import { showStream } from './streams.ts';

// The client draws charts from their specification. A client that can't draw charts shows `text/plain`, so this text
// has to describe the chart.

/** Converts a specification without tables and queries to the forms of an output. */
type ChartForms = (body: Record<string, unknown>) => MimeBundle;

/** Returns the forms of a Vega-Lite or Vega chart. The version comes from `$schema` (default: 5). */
function vegaBundle(body: Record<string, unknown>): MimeBundle {
  const schema = typeof body['$schema'] === 'string' ? body['$schema'] : '';
  const found = /\/(vega|vega-lite)\/v(\d+)/.exec(schema);
  const library = found?.[1] === 'vega' ? 'vega' : 'vegalite';
  const title = titleOf(body['title']);
  const mark = isRecord(body['mark']) ? body['mark']['type'] : body['mark'];
  const kind = typeof mark === 'string' ? ` (${mark})` : '';
  return {
    ...jsonBundle({ [`application/vnd.${library}.v${found?.[2] ?? 5}+json`]: body }),
    'text/plain': `${library === 'vega' ? 'Vega' : 'Vega-Lite'} chart${kind}${title}. VS Code and JupyterLab draw it.`,
  };
}

const vegaSpec = (spec: unknown): Record<string, unknown> =>
  plainSpec(spec, 'display.vegaLite', "{ mark: 'bar', data: { values: [] }, encoding: {} }");

/** Returns the forms of a Plotly figure, `{ data, layout }`. */
function plotlyBundle(body: Record<string, unknown>): MimeBundle {
  const sent = { layout: {}, ...body };
  const layout: unknown = sent.layout;
  const title = titleOf(isRecord(layout) ? layout['title'] : undefined);
  return {
    ...jsonBundle({ 'application/vnd.plotly.v1+json': sent }),
    'text/plain': `Plotly figure of ${pluralize((body['data'] as unknown[]).length, 'trace')}${title}. VS Code draws it; JupyterLab needs an extension for Plotly.`,
  };
}

/** Returns a Plotly figure; converts a list of traces to a figure. */
function plotlySpec(figure: unknown): Record<string, unknown> {
  const example = "{ data: [{ x: [1, 2], y: [3, 4] }], layout: { title: 'A line' } }";
  const body = Array.isArray(figure) ? { data: figure as unknown[] } : plainSpec(figure, 'display.plotly', example);
  if (!Array.isArray(body['data'])) throw notASpec('display.plotly', example);
  return body;
}

/** Returns the output of a chart, and prints the notes about its data. */
function draw({ spec, notes }: ChartSpec, make: ChartForms): RenderedOutput {
  for (const note of notes) process.stdout.write(`${note}\n`);
  return { data: make(spec), metadata: {} };
}

function titleOf(title: unknown): string {
  const text = isRecord(title) ? title['text'] : title;
  return typeof text === 'string' && text !== '' ? ` "${text}"` : '';
}

function plainSpec(spec: unknown, name: string, example: string): Record<string, unknown> {
  if (!isRecord(spec) || Array.isArray(spec)) throw notASpec(name, example);
  // An object of a chart library has a method that returns the specification.
  const own = dataProperty(spec, 'toSpec') ?? dataProperty(spec, 'toJSON');
  const made: unknown = typeof own === 'function' ? Reflect.apply(own, spec, []) : spec;
  if (!isRecord(made)) throw notASpec(name, example);
  return made;
}

const notASpec = (name: string, example: string): CatalogError =>
  new CatalogError('InvalidInput', `Expected a chart specification for ${name}.`, `Pass an object such as ${example}.`);

type DisplayDeps = {
  places: DisplaySlots;
  show: RenderValue;
  /**
   * Receives each promise that `display` returns. The cell waits for these promises and does not show them as its
   * result.
   */
  track: (pending: Promise<void>) => void;
  /** Aborts the reading of a stream when the running cell is interrupted. */
  signal: () => AbortSignal;
};

export function createDisplay({ places, show, track, signal }: DisplayDeps): Display {
  const mime = (data: Record<string, unknown>, options: DisplayOptions = {}) =>
    places.put({ data: jsonBundle(data), metadata: {} }, options.id);
  const forms =
    <T>(make: (value: T) => Record<string, unknown>) =>
    (value: T, options?: DisplayOptions) =>
      mime(make(value), options);
  const put = (shown: RenderedOutput | Promise<RenderedOutput>, id: string | undefined): Promise<void> => {
    // Most values are rendered without waiting, so they appear before the next statement runs, as with `console.log`.
    const pending =
      shown instanceof Promise ? shown.then((ready) => places.put(ready, id)) : Promise.resolve(places.put(shown, id));
    track(pending);
    return pending;
  };
  const chart =
    (specOf: (spec: unknown) => Record<string, unknown>, make: ChartForms) =>
    (spec: unknown, options: ChartOptions = {}): Promise<void> => {
      const ready = chartSpec(specOf(spec), { limit: checkLimit(options.limit), signal: signal() });
      return put(ready instanceof Promise ? ready.then((read) => draw(read, make)) : draw(ready, make), options.id);
    };
  const display = (value: unknown, options: DisplayValueOptions = {}): Promise<void> => {
    const limit = checkLimit(options.limit);
    const stream = streamOf(value);
    const shown = { limit, whole: options.whole === true, signal: signal() };
    if (!stream) return put(show(value, shown), options.id);
    const pending = showStream(stream, places.open(options.id), shown);
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
    vegaLite: chart(vegaSpec, vegaBundle),
    plotly: chart(plotlySpec, plotlyBundle),
    image: (source: unknown, options: DisplayOptions = {}) => put(showAsImage(source), options.id),
    clear: (wait = false) => places.clear(wait),
  });
}

function jsonForms(value: unknown): Record<string, unknown> {
  const bundle = jsonBundle({ 'application/json': value });
  // `jsonBundle` leaves a string without quotes. JSON text needs the quotes, so the text form is serialized here.
  return { ...bundle, 'text/plain': JSON.stringify(bundle['application/json'], null, 2) };
}

/** Adds the dollar signs with which notebooks recognize formulas. */
const asFormula = (text: string): string => (/^\s*(?:\$|\\\(|\\\[|\\begin)/.test(text) ? text : `$$${text}$$`);

/**
 * Returns the stream to show incrementally. In some versions of Arrow a table is async iterable too, but a table is
 * shown as a whole and not as a stream.
 */
function streamOf(value: unknown): Parameters<typeof showStream>[0] | undefined {
  if (isBatchStream(value)) return value;
  if (value instanceof Query || isArrowSchema(value) || isRecordBatch(value) || !isAsyncIterable(value))
    return undefined;
  return arrowTable(value) ? undefined : { batches: value };
}

function checkLimit(limit: number | undefined): number | undefined {
  if (limit === undefined || (Number.isSafeInteger(limit) && limit > 0)) return limit;
  throw new CatalogError(
    'InvalidInput',
    `Expected a positive integer for "limit", got ${String(limit)}.`,
    'Pass 1 or more.',
  );
}
