import { cutText, pluralize } from '#shared/format/markup.ts';
import { isSameView, type SavedView, wholeTable } from '#shared/protocol/panelViews.ts';

/** Characters of a filter in the description of a view. */
const maxFilter = 80;

/** Returns a view in words: `amount > 400 · by amount descending · 3 columns hidden`. */
export function describeView({ view, columns, version }: Omit<SavedView, 'name'>): string {
  const { where, orderBy, search, ...others } = view;
  const filter = where.trim().replaceAll(/\s+/g, ' ');
  const hidden = columns?.hidden.length ?? 0;
  const parts = [
    ...(filter === '' ? [] : [cutText(filter, maxFilter)]),
    ...(search ? [`search "${search.text}"`] : []),
    ...(orderBy.length === 0
      ? []
      : [`by ${orderBy.map(({ column, descending }) => `${column}${descending ? ' descending' : ''}`).join(', ')}`]),
    ...(isSameView({ ...wholeTable, ...others }, wholeTable) ? [] : Object.keys(others)),
    ...(hidden === 0 ? [] : [`${pluralize(hidden, 'column')} hidden`]),
    ...(version === undefined ? [] : [`version ${version}`]),
  ];
  return parts.length === 0 ? 'all rows' : parts.join(' · ');
}
