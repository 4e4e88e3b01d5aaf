import { inspect, types } from 'node:util';
import type { Catalog } from '#catalog/catalog.ts';
import { Query } from '#catalog/query/query.ts';
import { messageOf } from '#shared/errors.ts';
import { alignColumns, cutText, escapeHtml, htmlRow, escapeControlCharacters } from '#shared/format/markup.ts';
import { withoutUrlSecrets } from '#shared/format/withoutUrlSecrets.ts';
import { showImage } from './images.ts';
import { htmlAndText, type RenderedOutput, type ShowOptions, textOnly } from './mimeBundle.ts';
import { displayHook } from './ownForms.ts';
import { outputTables } from './outputTables.ts';
import { arrowTable, isArrowSchema, isBatchStream, isCatalog, isCatalogTable, isObject } from './typeGuards.ts';
import { showBatchStream, showCatalogTable, showQuery, showSchema, showTable } from './tables.ts';
import {
  countEntries,
  cutNodes,
  readValue,
  type TranslateStack,
  treeLimits,
  type ValueEntry,
  type ValueNode,
} from './valueTree.ts';

/** Maximum names shown per list, and the time limit for listing them. */
const names = 20;
const listMs = 5000;

/** Shows the kind, location and root contents of a catalog. Never throws: a failure becomes part of the output. */
async function showCatalog(catalog: Catalog, options: ShowOptions = {}): Promise<RenderedOutput> {
  const limit = options.limit ?? names;
  const timeout = AbortSignal.timeout(listMs);
  const signal = options.signal ? AbortSignal.any([timeout, options.signal]) : timeout;
  const facts: [string, string][] = [];
  let problem: string | undefined;
  if (catalog.location) facts.push(['kind', catalog.implementation], ['location', withoutUrlSecrets(catalog.location)]);
  try {
    const [namespaces, tables] = await Promise.all([
      catalog.listNamespaces([], { limit: limit + 1, signal }),
      catalog.listTables([], { limit: limit + 1, signal }),
    ]);
    facts.push(['namespaces', listed(namespaces.namespaces, limit)], ['tables', listed(tables.tables, limit)]);
  } catch (error) {
    problem = timeout.aborted ? `The catalog did not answer within ${listMs / 1000} s.` : messageOf(error);
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

/** Number of entries that are visible at first, and number of entries that each click adds. */
const firstPage = 20;
const page = 100;
const previewChars = 100;

/**
 * Uses the colors of VS Code or JupyterLab if the page defines them. Every rule starts with `.lance-value`, because the
 * outputs of a notebook may share one document.
 */
const style = `<style>
.lance-value{font-family:var(--vscode-editor-font-family,var(--jp-code-font-family,monospace));font-size:var(--vscode-editor-font-size,var(--jp-code-font-size,13px));line-height:1.5;overflow-x:auto}
.lance-value ul{list-style:none;margin:0;padding:0 0 0 1.4em}
.lance-value li{margin:0;white-space:nowrap}
.lance-value summary{cursor:pointer;white-space:nowrap}
.lance-value li>span{padding-left:1em}
.lance-value pre{margin:0 0 0 1.4em;padding:0;white-space:pre-wrap;font:inherit;color:inherit;background:none;opacity:.85}
.lance-value .k{color:var(--vscode-debugTokenExpression-name,var(--jp-mirror-editor-property-color,inherit))}
.lance-value .s{color:var(--vscode-debugTokenExpression-string,var(--jp-mirror-editor-string-color,inherit))}
.lance-value .n{color:var(--vscode-debugTokenExpression-number,var(--jp-mirror-editor-number-color,inherit))}
.lance-value .b{color:var(--vscode-debugTokenExpression-boolean,var(--jp-mirror-editor-keyword-color,inherit))}
.lance-value .d{opacity:.7}
.lance-value details[open]>summary>.p{display:none}
</style>`;

const classes: Partial<Record<ValueNode['kind'], string>> = {
  string: 's',
  number: 'n',
  boolean: 'b',
  empty: 'd',
  function: 'd',
  note: 'd',
};

/**
 * Returns a tree of `<details>` elements without scripts. The first level is open. `hint` explains how to see omitted
 * entries.
 */
function valueHtml(root: ValueNode, hint: string | undefined): string {
  const note = hint === undefined ? '' : `<p class="d">${escapeHtml(hint)}</p>`;
  return `${style}<div class="lance-value">${nodeHtml(undefined, root, true)}${note}</div>`;
}

function nodeHtml(label: string | undefined, node: ValueNode, isOpen = false): string {
  const name =
    label === undefined ? '' : `<span class="k">${escapeHtml(label)}</span>${label.endsWith('=>') ? ' ' : ': '}`;
  if (node.long !== undefined) return folded(`${name}${textHtml(node)}`, `<pre>${escapeHtml(node.long)}</pre>`, isOpen);
  if (node.entries.length === 0) {
    const dots =
      node.omitted > 0
        ? ` ${node.brackets[0]} … ${node.brackets[1]}`
        : node.kind === 'object'
          ? ` ${node.brackets}`
          : '';
    return `<span>${name}${textHtml(node)}${dots}</span>`;
  }
  // A plain object shows its entries, so its name is left out.
  const isPlain = node.text === 'Object' && label !== undefined;
  const preview = `<span class="d${isPlain ? '' : ' p'}">${escapeHtml(previewOf(node))}</span>`;
  return folded(
    `${name}${isPlain ? '' : `${textHtml(node)} `}${preview}`,
    entriesHtml(node.entries, node.omitted),
    isOpen,
  );
}

const folded = (summary: string, body: string, isOpen: boolean): string =>
  `<details${isOpen ? ' open' : ''}><summary>${summary}</summary>${body}</details>`;

function textHtml({ kind, text }: ValueNode): string {
  const name = classes[kind];
  return name === undefined ? escapeHtml(text) : `<span class="${name}">${escapeHtml(text)}</span>`;
}

function entriesHtml(entries: readonly ValueEntry[], omitted: number, seen = firstPage): string {
  const items = entries.slice(0, seen).map(({ label, node }) => `<li>${nodeHtml(label, node)}</li>`);
  const rest = entries.slice(seen);
  if (rest.length > 0) {
    const title = `Show ${Math.min(page, rest.length)} more of ${(rest.length + omitted).toLocaleString('en-US')}`;
    items.push(`<li>${folded(title, entriesHtml(rest, omitted, page), false)}</li>`);
  } else if (omitted > 0) items.push(`<li><span class="d">… ${omitted.toLocaleString('en-US')} more</span></li>`);
  return `<ul>${items.join('')}</ul>`;
}

/** Returns the first entries in one line: `{ id: 1, name: 'mug', tags: Array(2) }`. */
function previewOf(node: ValueNode): string {
  const isList = node.brackets === '[]';
  const parts: string[] = [];
  let length = 0;
  for (const { label, node: child } of node.entries) {
    const text = child.text === 'Object' ? '{…}' : cutText(child.text, 40);
    const part = isList || label === undefined ? text : `${label}${label.endsWith('=>') ? '' : ':'} ${text}`;
    length += part.length + 2;
    if (length > previewChars) break;
    parts.push(part);
  }
  const isAll = parts.length === node.entries.length && node.omitted === 0;
  return `${node.brackets[0]} ${[...parts, ...(isAll ? [] : ['…'])].join(', ')} ${node.brackets[1]}`;
}

/** Entries of a collection in the text form. */
const textEntries = 100;
/** Entries of a nested collection in an outline. */
const nestedEntries = 20;
/** Up to this many entries `util.inspect` output stays readable and fast. */
const inspectedEntries = 1500;

/**
 * Returns a value as text: small values as `util.inspect` writes them, large ones as an outline.
 * @param entries limit for one collection
 */
function valueText(value: unknown, entries = textEntries): string {
  const node = readValue(value, { ...treeLimits, entries, nodes: Math.max(inspectedEntries, entries) * 2 });
  return countEntries(node) <= inspectedEntries && !needsOutline(node)
    ? inspected(value, node, entries)
    : outline(node, entries, '');
}

/**
 * Whether a value must be shown as an outline: `inspect` limits lists, but writes every property of an object and the
 * buffers of an Arrow table.
 */
const needsOutline = (node: ValueNode): boolean =>
  (node.brackets === '{}' && node.entries.length > 0 && node.omitted > 0) ||
  node.entries.some((entry) => entry.node.isArrow === true || needsOutline(entry.node));

function inspected(value: unknown, node: ValueNode, entries: number): string {
  try {
    return inspect(value, { colors: false, depth: 6, maxArrayLength: entries, maxStringLength: 10_000 });
  } catch {
    // A custom `inspect` method of the value threw, so the value is shown as an outline.
    return outline(node, entries, '');
  }
}

const lineChars = 72;

function outline(node: ValueNode, limit: number, indent: string): string {
  const line = indent !== '' && node.line !== undefined ? node.line : inOneLine(node);
  if (line !== undefined) return line;
  const inner = `${indent}  `;
  const shown = node.entries.slice(0, limit);
  const lines = shown.map(
    ({ label, node: child }) => inner + labelText(label) + outline(child, Math.min(limit, nestedEntries), inner),
  );
  const omitted = node.omitted + node.entries.length - shown.length;
  if (omitted > 0) lines.push(`${inner}… ${omitted.toLocaleString('en-US')} more`);
  return `${nameText(node)}${node.brackets[0]}\n${lines.join('\n')}\n${indent}${node.brackets[1]}`;
}

/** Returns a leaf, or a complete small collection, as one line; undefined for any other node. */
function inOneLine(node: ValueNode): string | undefined {
  const [open, close] = node.brackets;
  if (node.kind !== 'object') return node.text;
  if (node.entries.length === 0) return nameText(node) + (node.omitted > 0 ? `${open} … ${close}` : `${open}${close}`);
  if (node.omitted > 0 || node.entries.length > nestedEntries) return undefined;
  const parts: string[] = [];
  for (const { label, node: child } of node.entries) {
    const part = child.line ?? inOneLine(child);
    if (part === undefined) return undefined;
    parts.push(labelText(node.brackets === '[]' ? undefined : label) + part);
  }
  const line = `${nameText(node)}${open} ${parts.join(', ')} ${close}`;
  return line.length > lineChars ? undefined : line;
}

/** As in `util.inspect`, plain objects and arrays have no name. */
const nameText = ({ text, entries, omitted }: ValueNode): string =>
  text === 'Object' || (text === `Array(${entries.length + omitted})` && omitted === 0) ? '' : `${text} `;

const labelText = (label: string | undefined): string =>
  label === undefined ? '' : `${escapeControlCharacters(label)}${label.endsWith('=>') ? '' : ':'} `;

/** Characters of the text form of one output. */
const maxText = 100_000;

/** The limit that a hint suggests at first; a later hint suggests ten times the limit given. */
const moreEntries = 10_000;

/**
 * Returns what an output leaves out and how to see it; undefined if it shows everything.
 * @param given the limit that the user has passed
 */
function omissionHint(tree: ValueNode, isTextCut: boolean, given: number | undefined): string | undefined {
  const most = given === undefined ? moreEntries : given * 10;
  const cuts = [...cutNodes(tree)];
  const cutBy = (limit: ValueNode['cutBy']) => cuts.find(({ node }) => node.cutBy === limit);
  const long = cutBy('entries');
  const facts: string[] = [];
  let limit: number | undefined;
  if (long) {
    const { omitted, entries } = long.node;
    const total = omitted + entries.length;
    const what = long.path === '' ? 'it' : `value${long.path}`;
    facts.push(`${what} has ${total.toLocaleString('en-US')} entries, of which ${entries.length} are listed`);
    limit = Math.min(total, most);
  } else if (cutBy('nodes')) facts.push('it has too many entries in all');
  else if (isTextCut) facts.push(`its text is longer than ${maxText.toLocaleString('en-US')} characters`);
  if (facts.length > 0) limit ??= most;
  const isDeep = cutBy('depth') !== undefined;
  if (isDeep) facts.push(`it has more than ${treeLimits.depth} levels`);
  if (facts.length === 0) return undefined;
  const steps = [
    ...(limit === undefined ? [] : [`For more entries, use display(value, { limit: ${limit} }).`]),
    ...(isDeep ? ['For more levels, display a part of the value.'] : []),
  ];
  return `Not everything is shown: ${facts.join(', and ')}. ${steps.join(' ')}`;
}

/**
 * Shows a value as text; if the text has several lines or is cut, also as a tree.
 * @param translate maps stack frames to lines of cells
 */
function showValue(value: unknown, translate: TranslateStack, options: ShowOptions = {}): RenderedOutput {
  const entries = options.limit ?? treeLimits.entries;
  const nodes = Math.max(treeLimits.nodes, entries * 2);
  const tree = readValue(value, { ...treeLimits, entries, nodes }, translate);
  const whole = translate(valueText(value, options.limit ?? textEntries));
  const most = options.limit === undefined ? maxText : Infinity;
  const text = whole.length > most ? `${whole.slice(0, most)}…` : whole;
  const hint = omissionHint(tree, text !== whole, options.limit);
  // A value that is completely shown in one line does not need a tree.
  if (typeof value !== 'object' || value === null || (!text.includes('\n') && hint === undefined))
    return textOnly(text);
  if (tree.entries.length === 0) return textOnly(text);
  const lines = hint === undefined ? text : `${text}\n${hint}`;
  return htmlAndText(valueHtml(tree, hint), lines);
}

export type RenderValue = (value: unknown, options?: ShowOptions) => RenderedOutput | Promise<RenderedOutput>;

/**
 * Creates the function that renders values. Most values render synchronously. Queries and catalog tables are read first
 * (1,000 rows by default) and reject with the `CatalogError` of that read.
 * @throws CatalogError InvalidInput (13) if the value's own display method returns a form that JSON can't hold; also
 * any error that the display method throws
 */
export function createShow(translate: TranslateStack): RenderValue {
  return (value, options = {}) => {
    const plain = () => showValue(value, translate, options);
    if (!isObject(value)) return plain();
    const own = displayHook(value);
    if (own) return own(plain);
    return types.isProxy(value) ? plain() : (showKnown(value, options) ?? plain());
  };
}

/** Renders values that the kernel recognizes by their shape. */
function showKnown(value: object, options: ShowOptions): RenderedOutput | Promise<RenderedOutput> | undefined {
  if (value instanceof Query) return showQuery(value, options).then((shown) => withTable(shown, value));
  if (isCatalogTable(value)) return showCatalogTable(value, options).then((shown) => withTable(shown, value));
  if (isBatchStream(value)) return showBatchStream(arrowTable(value.schema)?.schema ?? value.schema);
  if (isCatalog(value)) return showCatalog(value, options);
  const table = arrowTable(value);
  if (table && isArrowSchema(value)) return showSchema(table.schema);
  return table ? withTable(showTable(table, table.numRows, options), value) : showImage(value);
}

/** Adds the id with which a user opens all rows of the output. */
function withTable(shown: RenderedOutput, value: object): RenderedOutput {
  const table = outputTables.keep(value);
  return table === undefined ? shown : { ...shown, table };
}
