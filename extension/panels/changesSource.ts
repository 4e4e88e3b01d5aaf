import type { ChangesOfTables } from '#catalog/view/changesCode.ts';
import { countText } from '#shared/format/numbers.ts';
import { displayPath } from '#shared/names.ts';
import { type ChangesState, countOfKind, type PanelChanges, type ShownChanges } from '#shared/protocol/changes.ts';
import type { ChangesRequest, ExportedChanges, OpenedChanges } from '#shared/protocol/viewsMessages.ts';
import type { PanelGrowth, PanelTable, PanelView } from '#shared/protocol/webviewMessages.ts';
import { OpenedView } from './openedView.ts';
import type { GrowingTable, TablePlace, TableSource } from './tableSource.ts';
import { keyOfView, knownVersion, type ViewBase, type ViewDeps, viewedTable } from './viewSource.ts';

/** The view of a panel that shows differences. */
type ChangesView = PanelView & { changes: PanelChanges };

export const hasChanges = (view: PanelView): view is ChangesView => view.changes !== undefined;

/** A comparison in the views process. The sources of its kinds of rows share it; it is closed with the last one. */
class Comparison {
  readonly base: ViewBase;
  readonly changes: PanelChanges;
  readonly listeners = new Set<() => void>();
  readonly #deps: ViewDeps;
  readonly #opened: OpenedView<OpenedChanges, ChangesState>;
  #users = 0;
  #state: ChangesState | undefined;
  /** Whether the views process has ended since the comparison was started. */
  #isLost = false;

  constructor(deps: ViewDeps, base: ViewBase, changes: PanelChanges) {
    this.#deps = deps;
    this.base = base;
    this.changes = changes;
    const { views } = deps;
    this.#opened = new OpenedView({
      listen: (id, listener) => views.onChanges(id, listener),
      open: (id, signal) => this.#start(id, signal),
      close: (id) => views.request('closeChanges', { id }),
      // A state that was reported meanwhile is newer.
      onOpened: ({ state }) => this.#take(this.#state?.end === 'running' ? this.#state : state),
      onState: (state) => this.#take(state),
    });
  }

  get state(): ChangesState | undefined {
    return this.#state;
  }

  get isLost(): boolean {
    return this.#isLost;
  }

  retain(): void {
    this.#users++;
  }

  release(): void {
    if (--this.#users > 0) return;
    this.listeners.clear();
    this.#opened.close();
  }

  cancel(): void {
    const { id } = this.#opened;
    if (id !== undefined) this.#deps.views.request('cancelChanges', { id }).catch(() => undefined);
  }

  /** Starts the comparison. Later calls return the same one, unless the views process has ended. */
  open(): Promise<OpenedChanges> {
    return this.#opened.open().done;
  }

  read(
    request: { kind: PanelChanges['kind']; start: number; end: number; columns?: string[] },
    signal: AbortSignal,
  ): Promise<Uint8Array> {
    return this.#opened.read(signal, async (id) =>
      Buffer.from(await this.#deps.views.request('readChanges', { id, ...request }, signal), 'base64'),
    );
  }

  /** Returns what an export of the rows of a kind needs. Starts the comparison if the views process has ended. */
  async exported(kind: PanelChanges['kind'], signal: AbortSignal): Promise<ExportedChanges> {
    const id = await this.#opened.openedId(signal);
    const { catalog: _, ...compared } = await this.#compared();
    return { id, ...compared, kind };
  }

  async #start(id: string, signal: AbortSignal): Promise<OpenedChanges> {
    this.#isLost = false;
    return this.#deps.views.request('openChanges', { id, ...(await this.#compared()) }, signal);
  }

  async #compared(): Promise<Omit<ChangesRequest, 'id'>> {
    const { catalog } = await viewedTable(this.#deps, this.base);
    const { changes } = this;
    return { catalog, ...comparedTables(this.base, changes), key: changes.key };
  }

  #take(state: ChangesState | undefined): void {
    if (state) this.#state = state;
    else this.#isLost = true;
    for (const listener of this.listeners) listener();
  }
}

/** The differences between the table of a panel and another one, or those of one kind. */
export class ChangesSource implements TableSource, GrowingTable {
  readonly title: string;
  readonly place: TablePlace;
  readonly growing: GrowingTable = this;
  /** The rows that were found stay, so a failure is a note. */
  readonly failure = undefined;
  readonly #comparison: Comparison;
  readonly #view: ChangesView;
  readonly #key: string;
  readonly #listeners = new Set<() => void>();
  #opened: OpenedChanges | undefined;

  /** @param shown what the panel shows. If it is another kind of the same comparison, both share it. */
  static of(deps: ViewDeps, base: ViewBase, view: ChangesView, shown: TableSource): ChangesSource {
    const known = shown instanceof ChangesSource ? shown.#comparison : undefined;
    const isSame =
      known?.base.table === base.table &&
      isSameComparison(known.changes, view.changes) &&
      known.state?.end !== 'failed';
    return new ChangesSource(isSame ? known : new Comparison(deps, base, view.changes), view);
  }

  private constructor(comparison: Comparison, view: ChangesView) {
    const { base } = comparison;
    this.#comparison = comparison;
    this.#view = view;
    this.title = base.source.title;
    this.place = base.place;
    this.#key = keyOfView(base.table, view);
    comparison.retain();
  }

  get growth(): PanelGrowth {
    const { state, isLost } = this.#comparison;
    const isGrowing = !isLost && (!state || state.end === 'running');
    const changes = this.#shown();
    return {
      key: this.#key,
      numRows: state ? countOfKind(state.readable, this.#view.changes.kind) : 0,
      note: isLost ? 'The process that compares has ended. It starts again for the next rows.' : noteOf(state),
      isGrowing,
      ...(changes && { changes }),
    };
  }

  onDidChange(listener: () => void): { dispose(): void } {
    this.#listeners.add(listener);
    return { dispose: () => void this.#listeners.delete(listener) };
  }

  cancel(): void {
    this.#comparison.cancel();
  }

  /** Starts the comparison. @throws CatalogError as `compareTables` */
  async open(signal: AbortSignal): Promise<PanelTable> {
    const tell = (): void => {
      for (const listener of this.#listeners) listener();
    };
    const close = (): void => {
      this.#comparison.listeners.delete(tell);
      this.#listeners.clear();
      this.#comparison.release();
    };
    signal.addEventListener('abort', close, { once: true });
    if (signal.aborted) close();
    signal.throwIfAborted();
    this.#comparison.listeners.add(tell);
    this.#opened = await this.#comparison.open();
    signal.throwIfAborted();
    const { table } = this.#comparison.base;
    // A struct is compared as a whole, so its fields are not columns.
    const columns = this.#opened.columns.map(({ fields: __, ...column }) => column);
    const [kind] = columns;
    const { readsBlobs: _, ...others } = table;
    return {
      ...others,
      ...this.growth,
      columns,
      // The rows are in a file of the views process, which has every column apart.
      selectsColumns: true,
      view: this.#view,
      columnSettings: { order: [], pinned: kind ? [kind.name] : [], hidden: [], widths: [], rowHeight: 'small' },
    };
  }

  rows(start: number, end: number, signal: AbortSignal, columns?: readonly string[]): Promise<Uint8Array> {
    const { kind } = this.#view.changes;
    return this.#comparison.read({ kind, start, end, ...(columns && { columns: [...columns] }) }, signal);
  }

  /** Returns what an export of the shown differences needs. */
  exported(signal: AbortSignal): Promise<ExportedChanges> {
    return this.#comparison.exported(this.#view.changes.kind, signal);
  }

  async confirm(signal: AbortSignal): Promise<void> {
    await this.#comparison.base.source.confirm?.(signal);
  }

  #shown(): ShownChanges | undefined {
    const opened = this.#opened;
    const { state, base } = this.#comparison;
    if (!opened || !state) return undefined;
    const { path, version, isBefore } = this.#view.changes;
    const own = [...base.place.path, base.place.table];
    const isSame = JSON.stringify(own) === JSON.stringify(path);
    const other = isSame ? `version ${version}` : `${displayPath(path)}, version ${version}`;
    const here = isSame ? `version ${base.table.version}` : `${displayPath(own)}, version ${base.table.version}`;
    const { columnChanges, numShown } = opened;
    return { before: isBefore ? other : here, after: isBefore ? here : other, columnChanges, numShown, state };
  }
}

const isSameComparison = (a: PanelChanges, b: PanelChanges): boolean => comparedText(a) === comparedText(b);

const comparedText = ({ path, version, isBefore, key }: PanelChanges): string =>
  JSON.stringify([path, version, isBefore, key]);

/** What the line below the rows says. Progress is in the bar of the comparison. */
function noteOf(state: ChangesState | undefined): string {
  if (!state) return '';
  const { counts, readable, end } = state;
  if (end === 'canceled') return 'Canceled: not all rows were compared';
  if (end !== 'complete') return '';
  const kept = countOfKind(readable, null);
  return kept < countOfKind(counts, null) ? `The first ${countText(kept)} differences are shown; all are counted` : '';
}

/** Returns the two tables of a comparison, the earlier state first. */
export function comparedTables(
  { place, table }: Pick<ViewBase, 'place'> & { table: Pick<PanelTable, 'version' | 'title'> },
  { path, version, isBefore }: PanelChanges,
): Pick<ExportedChanges, 'before' | 'after'> {
  const other = { path, version };
  const here = { path: [...place.path, place.table], version: knownVersion(table) };
  return isBefore ? { before: other, after: here } : { before: here, after: other };
}

/** Returns a comparison as code has it. @param table what the panel shows: the columns of the differences */
export function changesOfTables(place: TablePlace, table: PanelTable, changes: PanelChanges): ChangesOfTables {
  const { key, kind } = changes;
  // The columns of the tables are after the kind, and after the row ids if there is no key.
  const columns = table.columns.slice(key ? 1 : 2, table.changes?.numShown).map(({ name }) => name);
  const compared = comparedTables({ place, table }, changes);
  return { namespacePath: place.path, name: place.table, ...compared, key, kind, columns };
}
