import { randomUUID } from 'node:crypto';
import type { CellOutput } from '#session/threads/coreMessages.ts';
import type { RenderedOutput } from './mimeBundle.ts';
import { outputTables } from './outputTables.ts';

/** The destination of outputs. An output with an id can be replaced later. */
export type DisplaySlots = {
  /** Shows an output; replaces the output that has this id, if any. */
  put(shown: RenderedOutput, id?: string): void;
  /** Opens an output that can change; each call of the returned function replaces its content. */
  open(id?: string): (shown: RenderedOutput) => void;
  /** Removes the cell's output so far; with `wait`, only when new output arrives. */
  clear(wait: boolean): void;
  /** Notes that a cell with this code starts, so that outputs of its earlier run count as no longer on screen. */
  begin(code: string): void;
};

const maxIds = 10_000;

/**
 * Creates the destination of outputs. An output whose id is already on screen is sent as an update.
 * @param code returns the code of the cell that the output belongs to
 */
export function createDisplaySlots(send: (output: CellOutput) => void, code: () => string | undefined): DisplaySlots {
  // Maps an id to the code of the cell that showed the output. When that cell runs again, the output must be created
  // again and not updated, because clients forget cleared outputs.
  const shownBy = new Map<string, string | undefined>();
  const remember = (id: string) => {
    shownBy.delete(id);
    shownBy.set(id, code());
    const [oldest] = shownBy.keys();
    if (shownBy.size <= maxIds || oldest === undefined) return;
    shownBy.delete(oldest);
    tables.delete(oldest);
  };
  // A client knows the table of an output by the id that the output had first.
  const tables = new Map<string, string>();
  const tableOf = (id: string, isUpdate: boolean, { table }: RenderedOutput): { table?: string } => {
    if (!outputTables.isKeeping) return {};
    const known = isUpdate ? tables.get(id) : undefined;
    const first = known ?? table ?? randomUUID();
    if (known === undefined) tables.set(id, first);
    if (first !== table) outputTables.move(table, first);
    return { table: first };
  };
  const put = (shown: RenderedOutput, id?: string) => {
    // An output without an id can't be updated.
    if (id === undefined) return send({ type: 'display_data', content: shown });
    const isUpdate = shownBy.has(id);
    const content = { ...shown, ...tableOf(id, isUpdate, shown), displayId: id };
    if (!isUpdate) remember(id);
    send({ type: isUpdate ? 'update_display_data' : 'display_data', content });
  };
  return {
    put,
    open: (id) => {
      const place = id ?? randomUUID();
      return (shown) => put(shown, place);
    },
    clear: (wait) => send({ type: 'clear_output', content: { wait } }),
    begin: (begun) => {
      for (const [id, by] of shownBy) {
        if (by !== begun) continue;
        shownBy.delete(id);
        tables.delete(id);
      }
    },
  };
}
