import { countText } from '#shared/format/numbers.ts';
import type { NearestFacts, PanelNearest, PanelTable } from '#shared/protocol/webviewMessages.ts';
import { type DistanceType, parseVectorType } from '#shared/vectorTypes.ts';
import { createButton, createElement } from '../parts/elements.ts';
import { isFieldKey } from '../parts/fieldKeys.ts';

export type NearestBarDeps = {
  /** Searches again with another choice. */
  readonly change: (nearest: PanelNearest) => void;
  /** Shows the rows without the search. */
  readonly leave: () => void;
};

type Search = { readonly nearest: PanelNearest; readonly facts: NearestFacts | undefined; readonly table: PanelTable };

const counts = [10, 100, 1_000, 10_000];

/**
 * The line below the toolbar that says which rows are shown after a search by vector, and how they were found. It is the same
 * element for all searches, so that a choice keeps the focus. It also says why a search failed.
 */
export class NearestBar {
  readonly element = createElement('div', { className: 'lance-nearest-bar', role: 'group' });
  readonly #deps: NearestBarDeps;
  readonly #count = createSelect('Number of rows', (value) => this.#change({ k: Number(value) }));
  readonly #distance = createSelect('Distance', (value) =>
    this.#change({ distanceType: value as DistanceType, useIndex: undefined }),
  );
  readonly #way = createSelect('Way to search', (value) =>
    this.#change(
      value === 'index' ? this.#ofIndex() : { useIndex: false, distanceType: this.#search?.facts?.distanceType },
    ),
  );
  readonly #origin = createElement('span');
  readonly #facts = createElement('span', { className: 'lance-nearest-facts', role: 'status' });
  readonly #problem = createElement('span', { className: 'lance-nearest-problem', role: 'alert' });
  readonly #close: HTMLButtonElement;
  #search: Search | undefined;
  #failure: string | undefined;
  /** The search that runs, so that a choice made meanwhile is added to it. */
  #wanted: PanelNearest | undefined;

  constructor(deps: NearestBarDeps) {
    this.#deps = deps;
    this.element.ariaLabel = 'Nearest rows';
    this.element.hidden = true;
    this.#close = createButton({ label: '✕', run: () => this.#leave() });
    this.#close.className = 'lance-nearest-close';
    this.element.append(this.#count, this.#origin, this.#distance, this.#way, this.#facts, this.#problem, this.#close);
  }

  /** Shows the search of a table, or nothing if it has none. */
  show(table: PanelTable): void {
    const nearest = table.view?.nearest;
    this.#search = nearest && { nearest, facts: table.nearest, table };
    this.#failure = undefined;
    this.#wanted = undefined;
    this.#draw();
  }

  /** Says why a search failed. The rows stay as they are. */
  fail(message: string): void {
    this.#failure = message;
    this.#wanted = undefined;
    this.#draw();
  }

  #leave(): void {
    const isFailure = this.#failure !== undefined;
    this.#failure = undefined;
    if (isFailure) this.#draw();
    else this.#deps.leave();
  }

  #change(change: Partial<PanelNearest>): void {
    const before = this.#wanted ?? this.#search?.nearest;
    if (!before) return;
    this.#wanted = { ...before, ...change };
    this.#deps.change(this.#wanted);
  }

  /** What a search by the index needs: it has one distance. */
  #ofIndex(): Partial<PanelNearest> {
    return { useIndex: undefined, distanceType: this.#search?.facts?.index?.distanceType };
  }

  #draw(): void {
    const search = this.#search;
    this.element.hidden = !search && this.#failure === undefined;
    this.#problem.textContent = this.#failure ?? '';
    this.#problem.hidden = this.#failure === undefined;
    const label = this.#failure === undefined ? 'Leave the Search' : 'Dismiss';
    this.#close.ariaLabel = label;
    this.#close.title = label;
    for (const part of [this.#count, this.#origin, this.#distance, this.#way, this.#facts]) part.hidden = !search;
    if (!search) return;
    const { nearest, facts } = search;
    setChoices(
      this.#count,
      [...new Set([...counts, nearest.k])].toSorted((a, b) => a - b).map((k) => [String(k), countText(k)]),
      String(nearest.k),
    );
    this.#origin.textContent = originText(nearest, search.table.version);
    const type = parseVectorType(search.table.columns.find(({ name }) => name === nearest.column)?.type ?? '');
    const index = facts?.index;
    const measured = (type?.distanceTypes ?? []).map((one): [string, string] => [
      one,
      one === index?.distanceType ? `${one} (index)` : one,
    ]);
    const unknown: [string, string][] = facts?.distanceType === undefined ? [['', 'distance of the index']] : [];
    setChoices(this.#distance, [...unknown, ...measured], facts?.distanceType ?? '');
    this.#distance.disabled = measured.length + unknown.length < 2;
    const ways: [string, string][] = [
      ['exact', 'Exact'],
      ...(index ? [['index', `${index.type} index`] as [string, string]] : []),
    ];
    setChoices(this.#way, ways, facts?.usesIndex === true ? 'index' : 'exact');
    this.#way.disabled = !index;
    this.#way.title = index
      ? 'An index is faster and may miss some of the nearest rows; Exact compares the vector with every row'
      : 'The column has no index, so the vector is compared with every row';
    this.#facts.textContent = factsText(search);
  }
}

/** `nearest to row 1,234 by embedding` */
function originText({ from, column, vectors }: PanelNearest, version: number | null): string {
  const by = `by ${column}`;
  if (from.kind === 'view') return `nearest to the chosen row ${by}`;
  if (from.kind === 'pasted') return `nearest to ${vectors.length > 1 ? 'the given vectors' : 'a given vector'} ${by}`;
  const of = from.version === version || from.version === null ? '' : ` of version ${from.version}`;
  return `nearest to row ${countText(from.row + 1)}${of} ${by}`;
}

/** `12 ms`, and why there are fewer rows, or why the index was not used. */
function factsText({ nearest, facts, table }: Search): string {
  if (!facts) return '';
  const { milliseconds, index, usesIndex, distanceType } = facts;
  const time =
    milliseconds < 10_000 ? `${Math.max(1, Math.round(milliseconds))} ms` : `${Math.round(milliseconds / 1_000)} s`;
  const isOther =
    index !== undefined && !usesIndex && index.distanceType !== undefined && index.distanceType !== distanceType;
  return [
    time,
    ...(isOther ? [`the index is for ${index.distanceType}`] : []),
    ...missingText(nearest, facts, table),
  ].join(' · ');
}

function missingText({ k }: PanelNearest, { usesIndex, distanceType }: NearestFacts, table: PanelTable): string[] {
  const { numRows, totalRows = numRows, view } = table;
  if (numRows >= k || numRows === totalRows) return [];
  const found = `${countText(numRows)} found`;
  if (usesIndex) return [`${found}; the index reads a part of the rows`];
  const isFiltered = view !== undefined && view.where.trim() !== '';
  const excluding = [...(isFiltered ? ['the filter'] : []), ...(view?.search ? ['the search for text'] : [])];
  const zero = distanceType === 'cosine' ? ', NaN or zero' : ' or NaN';
  return [
    `${found}; rows ${excluding.length > 0 ? `that ${excluding.join(' or ')} excludes or ` : ''}whose vector is null${zero} are left out`,
  ];
}

function createSelect(label: string, choose: (value: string) => void): HTMLSelectElement {
  const select = document.createElement('select');
  select.ariaLabel = label;
  select.title = label;
  select.addEventListener('change', () => choose(select.value));
  // The editor must not take the keys that choose.
  select.addEventListener('keydown', (event) => {
    if (isFieldKey(event)) event.stopPropagation();
  });
  return select;
}

function setChoices(select: HTMLSelectElement, choices: readonly (readonly [string, string])[], value: string): void {
  select.replaceChildren(
    ...choices.map(([key, label]) => {
      const option = createElement('option', { text: label });
      option.value = key;
      return option;
    }),
  );
  select.value = value;
}
