import { isRecord } from '#shared/records.ts';
import { disarmCss } from './cssRequests.ts';
import { isImageData } from './dataLoader.ts';

/** What Plotly draws. */
export type Figure = {
  readonly data: unknown[];
  readonly layout: Record<string, unknown>;
  readonly config: Record<string, unknown>;
  readonly frames?: unknown[];
};

/**
 * Returns a figure for which Plotly sends no request, and reports what was removed. Images and GeoJSON must be in the
 * figure. Maps are removed, because they consist of tiles from a server. Text keeps Plotly's markup, but no style that
 * could make a browser load something.
 * @throws Error if the figure has no data
 */
export function ownFigure(figure: unknown, onRefused: (address: string) => void): Figure {
  if (!isRecord(figure) || !Array.isArray(figure['data'])) throw new Error('it has no data.');
  const { data, layout, frames, config } = figure;
  const clean = (value: unknown): unknown => cleanValue(value, '', onRefused);
  const traces = (all: unknown[]): unknown[] =>
    clean(all.filter((trace) => !isMapTrace(trace, onRefused))) as unknown[];
  return {
    data: traces(data),
    layout: isRecord(layout) ? (clean(layout) as Record<string, unknown>) : {},
    config: isRecord(config) ? ownConfig(config) : {},
    ...(Array.isArray(frames) && {
      frames: frames.filter(isRecord).map((frame) => ({
        ...(clean(frame) as Record<string, unknown>),
        ...(Array.isArray(frame['data']) && { data: traces(frame['data']) }),
      })),
    }),
  };
}

const mapType = /^(?:scatter|choropleth|density)map(?:box)?$/;
const geoType = /^(?:scattergeo|choropleth)$/;

function isMapTrace(trace: unknown, onRefused: (address: string) => void): boolean {
  const type = isRecord(trace) ? trace['type'] : undefined;
  if (typeof type !== 'string') return false;
  if (geoType.test(type)) onRefused('outlines of countries');
  if (!mapType.test(type)) return false;
  onRefused(`tiles of the ${type} trace`);
  return true;
}

/** The allowed settings of a figure. No allowed setting names a server or lets the user send the figure to a server. */
const ownSettings = new Set([
  'autosizable',
  'displayModeBar',
  'doubleClick',
  'doubleClickDelay',
  'fillFrame',
  'frameMargins',
  'modeBarButtonsToRemove',
  'responsive',
  'scrollZoom',
  'showAxisDragHandles',
  'showAxisRangeEntryBoxes',
  'showTips',
  'staticPlot',
]);

const ownConfig = (config: Record<string, unknown>): Record<string, unknown> =>
  Object.fromEntries(Object.entries(config).filter(([key]) => ownSettings.has(key)));

/** The comparison operators of a contour. Plotly doesn't draw these strings as text, so a `<` in them stays. */
const operators = /^[<>=()[\]]{1,2}$/;

/**
 * Cleans a value. `key` is for example `source` or `images[0].source`. The values in an array have the key of the
 * array.
 */
function cleanValue(value: unknown, key: string, onRefused: (address: string) => void): unknown {
  if (typeof value === 'string') return cleanString(value, key, onRefused);
  if (Array.isArray(value)) {
    const hasOnlyNumbers = value.every((item) => typeof item === 'number' || item === null);
    return hasOnlyNumbers ? value : value.map((item) => cleanValue(item, key, onRefused));
  }
  if (!isRecord(value)) return value;
  return Object.fromEntries(
    Object.entries(value).flatMap(([name, item]): [string, unknown][] => {
      if (name.includes('__proto__')) return [];
      // Values that the user attached to the figure are labels, regardless of their names.
      const isLabel = key === 'customdata' || name === 'customdata' || name === 'meta';
      if (!isLabel && mapSubplot.test(name)) return [];
      const cleaned = cleanValue(item, isLabel ? 'customdata' : lastName(name), onRefused);
      return cleaned === undefined ? [] : [[name, cleaned]];
    }),
  );
}

/** Keys of the subplot of a map, also `map.style` in the arguments of a button. */
const mapSubplot = /^map(?:box)?\d*(?:$|\.)/;

/** `images[0].source` → `source` */
const lastName = (path: string): string => path.replace(/(?:\[-?\d+\])+$/, '').replace(/^.*\./, '');

function cleanString(text: string, key: string, onRefused: (address: string) => void): string | undefined {
  switch (key) {
    case 'source':
      if (isImageData(text)) return text.replace(/[<>()"'\\]/g, (char) => `%${char.charCodeAt(0).toString(16)}`);
      onRefused(text);
      return undefined;
    case 'geojson':
    case 'accesstoken':
      onRefused(key === 'geojson' ? text : 'a map with an access token');
      return undefined;
    case 'type':
      return mapType.test(text) ? undefined : cleanText(text);
    case 'operation':
      return operators.test(text) ? text : cleanText(text);
    default:
      return cleanText(text);
  }
}

/**
 * Returns text with only harmless markup. Links are removed, because in SVG they would replace the page that shows all
 * outputs. Every other `<` is escaped, because Plotly joins strings: a tag could start in a prefix and end in a value.
 */
function cleanText(text: string): string {
  const markup = text.includes('<')
    ? text.replace(/<[^<>]*>|</g, (tag) => cleanTag(tag) ?? `&lt;${tag.slice(1)}`)
    : text;
  return disarmCss(markup);
}

const styleAttribute = /(?:^|[\s"'])style\s*=\s*(?:"([^"]*)"|'([^']*)')/i;
const tagPattern = /^<(\/?)([a-z]+)(?:\s([\s\S]*?))?\s*\/?>$/i;
const tagNames = new Set(['a', 'b', 'br', 'em', 'extra', 'i', 's', 'span', 'sub', 'sup', 'u']);

function cleanTag(tag: string): string | undefined {
  const [, slash = '', tagName = '', attributes = ''] = tagPattern.exec(tag) ?? [];
  const name = tagName.toLowerCase();
  if (!tagNames.has(name)) return undefined;
  if (slash) return `</${name}>`;
  const match = styleAttribute.exec(attributes);
  const style = cleanStyle(match?.[1] ?? match?.[2] ?? '');
  return `<${name}${style && ` style="${style}"`}>`;
}

const styleNames = new Set([
  'color',
  'fill',
  'font-family',
  'font-size',
  'font-style',
  'font-weight',
  'text-decoration',
]);
const styleValue = /^(?:[-\w\s#%.,]|(?:rgb|hsl)a?\([-\d\s.,%/]*\))+$/i;

const cleanStyle = (style: string): string =>
  style
    .split(';')
    .map((declaration) => declaration.split(':'))
    .filter(
      ([name = '', value = '', ...rest]) =>
        rest.length === 0 && styleNames.has(name.trim().toLowerCase()) && styleValue.test(value.trim()),
    )
    .map(([name = '', value = '']) => `${name.trim().toLowerCase()}:${value.trim()}`)
    .join(';');
