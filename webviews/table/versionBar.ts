import type { PanelAction, PanelTable } from '#shared/protocol/webviewMessages.ts';
import { createButton, createElement } from '../parts/elements.ts';

type ShownTable = Pick<PanelTable, 'version' | 'newest' | 'isPinned'>;

/** Returns what the bar says, and its button; undefined if the newest version is shown. */
export function versionNotice({
  version,
  newest,
  isPinned = false,
}: ShownTable): { text: string; button: string } | undefined {
  if (version === null) return undefined;
  if (isPinned) {
    const of = newest === undefined || newest < version ? '' : ` of ${newest}`;
    return { text: `Version ${version}${of} · read-only`, button: 'Show Newest' };
  }
  return newest === undefined || newest <= version
    ? undefined
    : { text: `Version ${newest} is available`, button: 'Show' };
}

/**
 * The button of the toolbar that chooses a version, and a bar that says so if another version than the newest is shown.
 * The bar of a chosen version is above the rows. The bar of a newer version is below them, because it appears while the
 * user reads, and rows must not move.
 */
export class VersionBar {
  readonly button: HTMLButtonElement;
  /** Compares the table with another version, or with another table. */
  readonly compare: HTMLButtonElement;
  readonly #bar = createElement('div', { className: 'lance-version-bar', role: 'status' });
  readonly #act: (action: PanelAction) => void;

  constructor(act: (action: PanelAction) => void) {
    this.#act = act;
    this.button = createButton({ label: '', run: () => act('chooseVersion') });
    this.button.className = 'lance-version-button';
    this.button.title = 'Show another version or a tag';
    this.compare = createButton({ label: 'Compare…', run: () => act('compare') });
    this.compare.className = 'lance-compare-button';
    this.compare.title = 'Compare with another version, a tag or another table';
  }

  /** Shows the version of the table whose grid and toolbar are on the page. */
  show(table: ShownTable, { toolbar, grid }: { toolbar: HTMLElement; grid: HTMLElement }): void {
    const { version, isPinned } = table;
    this.button.textContent = `Version ${version}`;
    this.button.hidden = version === null;
    this.compare.hidden = version === null;
    const notice = versionNotice(table);
    if (!notice) return this.#bar.remove();
    const button = createButton({ label: notice.button, run: () => this.#act('showNewest') });
    this.#bar.classList.toggle('lance-version-pinned', isPinned === true);
    this.#bar.replaceChildren(createElement('span', { text: notice.text }), button);
    if (isPinned) toolbar.after(this.#bar);
    else grid.after(this.#bar);
  }
}
