import { CatalogError } from '#shared/errors.ts';
import type { MimeBundle } from '#shared/kernelMessages.ts';
import { isRecord } from '#shared/records.ts';
import { jsonBundle } from './mimeBundle.ts';
import { counted } from '#shared/markup.ts';
import { dataProperty } from './shapes.ts';

// Charts are drawn by the front; what is sent is their description. Which text stands beside it matters: a front that
// can't draw shows that.

/** The forms of a Vega-Lite chart, or of a Vega one. The version is the one that its `$schema` names, else 5. */
export function vegaBundle(spec: unknown): MimeBundle {
  const body = plainSpec(spec, 'display.vegaLite', "{ mark: 'bar', data: { values: [] }, encoding: {} }");
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

/** The forms of a Plotly figure, `{ data, layout }`, or of its traces alone. */
export function plotlyBundle(figure: unknown): MimeBundle {
  const example = "{ data: [{ x: [1, 2], y: [3, 4] }], layout: { title: 'A line' } }";
  const body = Array.isArray(figure) ? { data: figure as unknown[] } : plainSpec(figure, 'display.plotly', example);
  if (!Array.isArray(body['data'])) throw notASpec('display.plotly', example);
  const sent = { layout: {}, ...body };
  const layout: unknown = sent.layout;
  const title = titleOf(isRecord(layout) ? layout['title'] : undefined);
  return {
    ...jsonBundle({ 'application/vnd.plotly.v1+json': sent }),
    'text/plain': `Plotly figure of ${counted((body['data'] as unknown[]).length, 'trace')}${title}. VS Code draws it, and JupyterLab with an extension for Plotly.`,
  };
}

function titleOf(title: unknown): string {
  const text = isRecord(title) ? title['text'] : title;
  return typeof text === 'string' && text !== '' ? ` "${text}"` : '';
}

function plainSpec(spec: unknown, name: string, example: string): Record<string, unknown> {
  if (!isRecord(spec) || Array.isArray(spec)) throw notASpec(name, example);
  // The builders of these libraries have their description behind a method.
  const own = dataProperty(spec, 'toSpec') ?? dataProperty(spec, 'toJSON');
  const made: unknown = typeof own === 'function' ? Reflect.apply(own, spec, []) : spec;
  if (!isRecord(made)) throw notASpec(name, example);
  return made;
}

const notASpec = (name: string, example: string): CatalogError =>
  new CatalogError(
    'InvalidInput',
    `${name} was given something that is no chart.`,
    `Give an object such as ${example}.`,
  );
