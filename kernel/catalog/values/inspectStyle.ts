/**
 * The name of the method that `util.inspect` and `console.log` call. It is not imported from `util`, because browsers
 * have no `util`.
 */
export const inspectSymbol: unique symbol = Symbol.for('nodejs.util.inspect.custom');

export type InspectOptions = { stylize?: (text: string, style: string) => string };

/** Colors a string as `util.inspect` colors values of this style. */
export const styled = (text: string, style: 'number' | 'date', options: InspectOptions | undefined): string =>
  options?.stylize?.(text, style) ?? text;
