import { randomUUID } from 'node:crypto';
import type { CellOutput } from '#session/threads/coreMessages.ts';
import type { Shown } from './mimeBundle.ts';

/** Where outputs go; those that can change to places with an id. */
export type Places = {
  /** Shows something, in the place that has this id where there is one. */
  put(shown: Shown, id?: string): void;
  /** A place for an output that changes: each call of what it gives shows there. */
  open(id?: string): (shown: Shown) => void;
  /** Removes what the cell has shown so far; with `wait`, once something new comes. */
  clear(wait: boolean): void;
  /** A cell with this code begins. Its outputs of an earlier run are gone from the screen. */
  begin(code: string): void;
};

/** Ids that are remembered. */
const maxIds = 10_000;

/**
 * Sends outputs to their places.
 * @param code that of the cell whose output it is
 */
export function createPlaces(send: (output: CellOutput) => void, code: () => string | undefined): Places {
  // By the code of the cell that showed it: run again it shows its output anew, since clients forget what they cleared.
  const shownBy = new Map<string, string | undefined>();
  const remember = (id: string) => {
    shownBy.delete(id);
    shownBy.set(id, code());
    const [oldest] = shownBy.keys();
    if (shownBy.size > maxIds && oldest !== undefined) shownBy.delete(oldest);
  };
  const put = (shown: Shown, id?: string) => {
    // Without an id nothing can change it.
    if (id === undefined) return send({ type: 'display_data', content: shown });
    const isUpdate = shownBy.has(id);
    if (!isUpdate) remember(id);
    send({ type: isUpdate ? 'update_display_data' : 'display_data', content: { ...shown, displayId: id } });
  };
  return {
    put,
    open: (id) => {
      const place = id ?? randomUUID();
      return (shown) => put(shown, place);
    },
    clear: (wait) => send({ type: 'clear_output', content: { wait } }),
    begin: (begun) => {
      for (const [id, by] of shownBy) if (by === begun) shownBy.delete(id);
    },
  };
}
