import { isRecord } from '#shared/records.ts';

/**
 * Returns a Vega or Vega-Lite description without the parts that configure the embedding page. vega-embed lets
 * `usermeta.embedOptions` override the renderer's own options, even its loader and `ast`. `config.events` would allow
 * event listeners and cursors outside of the chart.
 * @throws Error if the description is not an object, because vega-embed would load a string as an address
 */
export function ownSpec(description: unknown): Record<string, unknown> {
  if (!isRecord(description)) throw new Error('Expected an object.');
  const { usermeta: _, config, ...spec } = description;
  if (!isRecord(config)) return spec;
  const { events: __, ...ownConfig } = config;
  return { ...spec, config: ownConfig };
}

/** Form elements that Vega can create, except those that load something, such as `image`. */
const inputTypes = new Set([
  'checkbox',
  'color',
  'date',
  'datetime-local',
  'month',
  'number',
  'radio',
  'range',
  'search',
  'select',
  'text',
  'time',
  'week',
]);
const inputProperties = new Set([
  'autocomplete',
  'debounce',
  'input',
  'labels',
  'max',
  'min',
  'name',
  'options',
  'placeholder',
  'step',
]);

/**
 * Returns a compiled Vega description whose form elements have only harmless attributes. Other attributes, such as
 * `src` and `style`, are removed, because Vega would set them unchanged.
 */
export function withSafeInputs(spec: unknown): unknown {
  if (Array.isArray(spec)) return spec.map(withSafeInputs);
  if (!isRecord(spec)) return spec;
  return Object.fromEntries(
    Object.entries(spec).flatMap(([key, value]): [string, unknown][] => {
      if (key === 'values') return [[key, value]];
      if (key !== 'bind') return [[key, withSafeInputs(value)]];
      const bind = safeBind(value);
      return bind ? [[key, bind]] : [];
    }),
  );
}

function safeBind(bind: unknown): Record<string, unknown> | undefined {
  if (!isRecord(bind) || typeof bind['input'] !== 'string' || !inputTypes.has(bind['input'])) return undefined;
  return Object.fromEntries(Object.entries(bind).filter(([key]) => inputProperties.has(key)));
}
