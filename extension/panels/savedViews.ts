import { CatalogError } from '#shared/errors.ts';
import { displayPath } from '#shared/names.ts';
import { isSameView, type SavedView } from '#shared/protocol/panelViews.ts';
import { type ColumnSettings, isPanelView } from '#shared/protocol/webviewMessages.ts';
import { isCount, isString, listOf, optional, shapeFor } from '#shared/shape.ts';
import type { Connection } from '../explorer/node.ts';
import type { State, TableViews } from '../host/state.ts';
import { isColumnSettings } from './columnMemory.ts';
import type { TablePlace } from './tableSource.ts';

/** Limits of what is kept: views of one table, and characters of JSON of one view and of all. */
export const maxViews = 100;
const maxViewLength = 128 * 1024;
const maxLength = 4 * 1024 * 1024;
const maxNameLength = 100;

// Control characters and marks of direction, which could make a name look like another one.
// oxlint-disable-next-line no-control-regex -- these characters are what is refused
const hiddenCharacter = /[\u0000-\u001F\u007F-\u009F\u061C\u200E\u200F\u2028-\u202E\u2066-\u2069]/;

/** Returns why a view can't have a name; undefined if it can. */
export function viewNameProblem(name: string, others: readonly Pick<SavedView, 'name'>[] = []): string | undefined {
  const trimmed = name.trim();
  if (trimmed === '') return 'A view needs a name.';
  if (trimmed.length > maxNameLength) return `The name has more than ${maxNameLength} characters.`;
  if (hiddenCharacter.test(trimmed)) return 'The name has hidden characters.';
  return others.some((one) => one.name === trimmed) ? `This table already has a view "${trimmed}".` : undefined;
}

/**
 * The views that the user has saved, for each table of a catalog. They belong to the user, so every window has them. A
 * table is found by the target of its connection, so a renamed connection keeps its views.
 */
export class SavedViews {
  readonly #state: Pick<State, 'savedViews' | 'setSavedViews'>;
  readonly #connections: { list(): readonly Connection[] };

  constructor(state: Pick<State, 'savedViews' | 'setSavedViews'>, connections: { list(): readonly Connection[] }) {
    this.#state = state;
    this.#connections = connections;
  }

  /** Returns the views of a table by name. */
  list(place: TablePlace | undefined): readonly SavedView[] {
    if (!place) return [];
    const table = this.#tableId(place);
    return this.#all().find((one) => one.table === table)?.views ?? [];
  }

  find(place: TablePlace | undefined, name: string | undefined): SavedView | undefined {
    return name === undefined ? undefined : this.list(place).find((one) => one.name === name);
  }

  /** @throws CatalogError InvalidInput (13) if there is no such view */
  get(place: TablePlace, name: string): SavedView {
    const view = this.find(place, name);
    if (view) return view;
    const what = `"${displayPath(place.path, place.table)}" has no saved view "${name}".`;
    throw new CatalogError('InvalidInput', what, 'Choose another one.');
  }

  /** Adds a view, or replaces the one with this name. @throws CatalogError InvalidInput (13) if it exceeds a limit */
  async save(place: TablePlace, view: SavedView): Promise<void> {
    const problem = viewNameProblem(view.name);
    if (problem !== undefined) throw new CatalogError('InvalidInput', problem, 'Choose another name.');
    if (JSON.stringify(view).length > maxViewLength)
      throw new CatalogError('InvalidInput', `The view "${view.name}" is too long to be kept.`, 'Save it as a file.');
    const others = this.list(place).filter(({ name }) => name !== view.name);
    if (others.length >= maxViews)
      throw new CatalogError(
        'InvalidInput',
        `"${displayPath(place.path, place.table)}" has ${others.length} saved views, and no more are kept.`,
        'Delete one first.',
      );
    await this.#replace(place, [...others, view]);
  }

  /** @throws CatalogError InvalidInput (13) if there is no such view, or the new name is not valid */
  async rename(place: TablePlace, name: string, next: string): Promise<void> {
    const view = this.get(place, name);
    const others = this.list(place).filter((one) => one.name !== name);
    const problem = viewNameProblem(next, others);
    if (problem !== undefined) throw new CatalogError('InvalidInput', problem, 'Choose another name.');
    await this.#replace(place, [...others, { ...view, name: next.trim() }]);
  }

  async delete(place: TablePlace, name: string): Promise<void> {
    await this.#replace(
      place,
      this.list(place).filter((one) => one.name !== name),
    );
  }

  /** Keeps the views of a table that was renamed. Views of an earlier table with the new name stay beside them. */
  async move(from: TablePlace, to: TablePlace): Promise<void> {
    await this.#moveAll((table) => (table === this.#tableId(from) ? this.#tableId(to) : table));
  }

  /** Keeps the views of a connection whose folder has moved or whose address has changed. */
  async moveConnection(before: Connection, after: Connection): Promise<void> {
    const [from, to] = [targetOf(before), targetOf(after)].map((target) => `${JSON.stringify(target).slice(0, -1)},[`);
    if (from === undefined || to === undefined || from === to) return;
    await this.#moveAll((table) => (table.startsWith(from) ? to + table.slice(from.length) : table));
  }

  #tableId({ connection, path, table }: TablePlace): string {
    const found = this.#connections.list().find(({ name }) => name === connection);
    // The connection of a job's table is the path of its root.
    return JSON.stringify([...(found ? targetOf(found) : ['dir', connection, '']), path, table]);
  }

  async #moveAll(idOf: (table: string) => string): Promise<void> {
    const moved = new Map<string, readonly SavedView[]>();
    const all = this.#all();
    if (all.every(({ table }) => idOf(table) === table)) return;
    for (const { table, views } of all) {
      const id = idOf(table);
      const known = moved.get(id) ?? [];
      const isMoved = id !== table;
      const [kept, other] = isMoved ? [views, known] : [known, views];
      moved.set(id, [...kept, ...other.filter(({ name }) => !kept.some((one) => one.name === name))]);
    }
    await this.#store([...moved].map(([table, views]) => ({ table, views })));
  }

  async #replace(place: TablePlace, views: readonly SavedView[]): Promise<void> {
    const table = this.#tableId(place);
    const others = this.#all().filter((one) => one.table !== table);
    const sorted = views.toSorted((a, b) => a.name.localeCompare(b.name));
    await this.#store(sorted.length === 0 ? others : [...others, { table, views: sorted }]);
  }

  async #store(all: readonly TableViews[]): Promise<void> {
    if (JSON.stringify(all).length > maxLength)
      throw new CatalogError(
        'InvalidInput',
        "Can't save the view: all saved views are too long.",
        'Delete some first.',
      );
    await this.#state.setSavedViews(all);
  }

  #all(): TableViews[] {
    const all = this.#state.savedViews();
    return Array.isArray(all) ? all.filter((one) => isTableViews(one)) : [];
  }
}

/** Returns what a connection opens. Two connections with one target have the same tables. */
export function targetOf(connection: Connection): [kind: string, place: string, database: string] {
  switch (connection.kind) {
    case 'dir':
      return ['dir', connection.root, ''];
    case 'rest':
      return ['rest', connection.uri, connection.database ?? ''];
    case 'other':
      return ['other', connection.name, ''];
  }
}

const isSavedView = shapeFor<SavedView>({
  name: isString,
  view: isPanelView,
  columns: optional(isColumnSettings),
  version: optional(isCount),
});

const isTableViews = shapeFor<{ table: string; views: SavedView[] }>({ table: isString, views: listOf(isSavedView) });

/** The columns of a new panel. */
export const standardColumns: ColumnSettings = { order: [], pinned: [], hidden: [], widths: [], rowHeight: 'small' };

/**
 * Whether two views show the same: rows, their order, and the columns. Widths and the height of rows are saved too, but
 * differ without a change of what is shown.
 */
export function isSameShown(a: Omit<SavedView, 'name'>, b: Omit<SavedView, 'name'>): boolean {
  const [left, right] = [a.columns ?? standardColumns, b.columns ?? standardColumns].map(({ order, pinned, hidden }) =>
    JSON.stringify([order, pinned, hidden.toSorted()]),
  );
  return left === right && isSameView(a.view, b.view);
}
