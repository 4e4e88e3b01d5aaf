import type { ColumnSettings, PanelTable } from '#shared/protocol/webviewMessages.ts';
import { isFiniteNumber, isString, listOf, optional, shapeFor } from '#shared/shape.ts';
import type { RememberedColumns, State } from '../host/state.ts';
import type { TablePlace } from './tableSource.ts';

/** Maximum number of tables whose columns are remembered. */
export const maxTables = 100;
/** Maximum length of what is remembered of one table, and of all, in characters of JSON. */
const maxTableLength = 256 * 1024;
const maxLength = 1024 * 1024;

/** The columns of tables as the user has set them, in the state of the workspace. The oldest are forgotten first. */
export class ColumnMemory {
  readonly #state: Pick<State, 'tableColumns' | 'setTableColumns'>;

  constructor(state: Pick<State, 'tableColumns' | 'setTableColumns'>) {
    this.#state = state;
  }

  find(place: TablePlace | undefined): ColumnSettings | undefined {
    if (!place) return undefined;
    const table = tableId(place);
    return this.#all().find((one) => one.table === table)?.settings;
  }

  /** Remembers the columns of a table, or forgets them if they are as in a new panel. */
  async keep(place: TablePlace, settings: ColumnSettings): Promise<void> {
    const table = tableId(place);
    const others = this.#all().filter((one) => one.table !== table);
    const isKept = !isDefault(settings) && JSON.stringify(settings).length <= maxTableLength;
    const all = isKept ? [...others, { table, settings }] : others;
    await this.#state.setTableColumns(newest(all));
  }

  /** Keeps the columns of a table that was renamed. */
  move(from: TablePlace, to: TablePlace): Promise<void> {
    const [before, after] = [tableId(from), tableId(to)];
    return this.#rename((table) => (table === before ? after : table));
  }

  /** Keeps the columns of the tables of a connection that was renamed. */
  renameConnection(before: string, after: string): Promise<void> {
    const prefix = `[${JSON.stringify(before)},`;
    return this.#rename((table) =>
      table.startsWith(prefix) ? `[${JSON.stringify(after)},${table.slice(prefix.length)}` : table,
    );
  }

  async #rename(nameOf: (table: string) => string): Promise<void> {
    const all = this.#all();
    const renamed = all.map((one) => ({ ...one, table: nameOf(one.table) }));
    const moved = renamed.filter(({ table }, index) => table !== all[index]?.table);
    if (moved.length === 0) return;
    const targets = new Set(moved.map(({ table }) => table));
    await this.#state.setTableColumns([
      ...all.filter(({ table }) => table === nameOf(table) && !targets.has(table)),
      ...moved,
    ]);
  }

  #all(): RememberedColumns[] {
    const all = this.#state.tableColumns();
    return Array.isArray(all) ? all.filter((one) => isRemembered(one)) : [];
  }
}

/** Returns the settings of a table that shows only some columns, in this order, as they are set otherwise. */
export function onlyColumns(
  shown: readonly string[],
  { columns }: Pick<PanelTable, 'columns'>,
  kept: ColumnSettings | undefined,
): ColumnSettings {
  const names = columns.map(({ name }) => name);
  const order = shown.filter((name) => names.includes(name));
  const hidden = names.filter((name) => !order.includes(name));
  return { ...(kept ?? { widths: [], rowHeight: 'small' }), order: [...order, ...hidden], pinned: [], hidden };
}

/** Returns the last tables within the bounds. */
function newest(all: readonly RememberedColumns[]): RememberedColumns[] {
  let length = 0;
  const last = all.slice(-maxTables);
  const tooMany = last.findLastIndex((one) => (length += JSON.stringify(one).length + 1) > maxLength);
  return last.slice(tooMany + 1);
}

const tableId = ({ connection, path, table }: TablePlace): string => JSON.stringify([connection, path, table]);

const isDefault = ({ order, pinned, hidden, widths, rowHeight, expanded = [] }: ColumnSettings): boolean =>
  order.length + pinned.length + hidden.length + widths.length + expanded.length === 0 && rowHeight === 'small';

const isNames = listOf(isString);

/** Whether a value from the webview or the state has the shape of settings. */
export const isColumnSettings = shapeFor<ColumnSettings>({
  order: isNames,
  pinned: isNames,
  hidden: isNames,
  widths: listOf(shapeFor<ColumnSettings['widths'][number]>({ name: isString, width: isFiniteNumber })),
  rowHeight: isString,
  expanded: optional(isNames),
});

const isRemembered = shapeFor<RememberedColumns>({ table: isString, settings: isColumnSettings });
