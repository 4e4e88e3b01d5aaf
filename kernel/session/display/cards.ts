import type { Catalog } from '#client/catalog.ts';
import { messageOf } from '#shared/errors.ts';
import { alignColumns, escapeHtml, htmlRow } from '#shared/markup.ts';
import { htmlAndText, type ShowOptions, type Shown } from './shown.ts';

/** Names of a list that are shown, and how long a server may take to give them. */
const names = 20;
const listMs = 5000;

/** A catalog: what it is, where, and what is in its root. A catalog that can't be reached says why; nothing is thrown. */
export async function showCatalog(catalog: Catalog, options: ShowOptions = {}): Promise<Shown> {
  const limit = options.limit ?? names;
  const timeout = AbortSignal.timeout(listMs);
  const signal = options.signal ? AbortSignal.any([timeout, options.signal]) : timeout;
  const facts: [string, string][] = [];
  let problem: string | undefined;
  if (catalog.location) facts.push(['kind', catalog.implementation], ['where', withoutSecrets(catalog.location)]);
  try {
    const [namespaces, tables] = await Promise.all([
      catalog.listNamespaces([], { limit: limit + 1, signal }),
      catalog.listTables([], { limit: limit + 1, signal }),
    ]);
    facts.push(['namespaces', listed(namespaces.namespaces, limit)], ['tables', listed(tables.tables, limit)]);
  } catch (error) {
    problem = timeout.aborted ? `It did not answer within ${listMs / 1000} s.` : messageOf(error);
  }
  const title = catalog.location ? 'Catalog' : 'Catalog (none chosen)';
  const rows = facts.map((fact) => htmlRow('td', fact)).join('');
  const html =
    `<p><strong>${title}</strong></p>` +
    (rows && `<table><tbody>${rows}</tbody></table>`) +
    (problem === undefined ? '' : `<p>${escapeHtml(problem)}</p>`);
  const text = [title, ...alignColumns(facts, 2000), ...(problem === undefined ? [] : [problem])];
  return htmlAndText(html, text.join('\n'));
}

const listed = (all: readonly string[], limit: number): string =>
  all.length === 0 ? 'none' : all.slice(0, limit).join(', ') + (all.length > limit ? ', … and more' : '');

/** An address without what may be a key in it: a person's name and password, and everything behind `?` or `#`. */
export function withoutSecrets(location: string): string {
  if (!/^[a-z][a-z0-9+.-]+:\/\//i.test(location)) return location;
  return location.replace(/[?#].*$/s, '').replace(/^([^/]+:\/\/)[^/]*@/, '$1');
}
