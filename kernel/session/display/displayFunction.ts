import { randomUUID } from 'node:crypto';
import type { CellOutput } from '#session/coreMessages.ts';
import type { Shown } from './display.ts';
import { jsonBundle } from './mimeBundle.ts';

export type DisplayOptions = {
  /** Names the place of the output, so that a later call with the same name replaces it. */
  id?: string | undefined;
};

/** `display` of a notebook. Its promises are settled once the value is on screen; a cell waits for them by itself. */
export type Display = {
  (value: unknown, options?: DisplayOptions): Promise<void>;
  /**
   * Shows ready-made forms of one output by MIME type; binary ones as bytes or base64 text.
   * @throws CatalogError InvalidInput (13) naming the form that JSON can't hold
   */
  mime(data: Record<string, unknown>, options?: DisplayOptions): void;
  /** Shows HTML. */
  html(text: string, options?: DisplayOptions): void;
  /** Shows Markdown. */
  markdown(text: string, options?: DisplayOptions): void;
  /** Removes what the cell has shown so far; with `wait`, once something new comes. */
  clear(wait?: boolean): void;
};

/** Makes the function. `track` gets what it returns, so that a cell can wait for it and does not show it. */
export function createDisplay(
  send: (output: CellOutput) => void,
  show: (value: unknown) => Shown | Promise<Shown>,
  track: (pending: Promise<void>) => void,
): Display {
  const known = new Set<string>();
  const put = (shown: Shown, id: string | undefined): void => {
    const displayId = id ?? randomUUID();
    const isUpdate = id !== undefined && known.has(id);
    if (id !== undefined) known.add(id);
    send({ type: isUpdate ? 'update_display_data' : 'display_data', content: { ...shown, displayId } });
  };
  const mime = (data: Record<string, unknown>, options: DisplayOptions = {}) =>
    put({ data: jsonBundle(data), metadata: {} }, options.id);
  return Object.assign(
    (value: unknown, options: DisplayOptions = {}): Promise<void> => {
      const shown = show(value);
      // Most values are shown before the next statement runs, as `console.log` would.
      const pending =
        shown instanceof Promise
          ? shown.then((ready) => put(ready, options.id))
          : Promise.resolve(put(shown, options.id));
      track(pending);
      return pending;
    },
    {
      mime,
      html: (text: string, options?: DisplayOptions) => mime({ 'text/html': text, 'text/plain': text }, options),
      markdown: (text: string, options?: DisplayOptions) =>
        mime({ 'text/markdown': text, 'text/plain': text }, options),
      clear: (wait = false) => send({ type: 'clear_output', content: { wait } }),
    },
  );
}
