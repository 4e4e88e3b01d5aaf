import { htmlAndText, textOnly, type ShowOptions, type Shown } from './shown.ts';
import { valueHtml } from './valueHtml.ts';
import { textEntries, valueText } from './valueText.ts';
import { isCut, readValue, treeLimits, type TranslateStack } from './valueTree.ts';

/** Characters of the text of one output. */
const maxText = 100_000;

const notAll =
  'Not all is shown. display(value, { limit: 10000 }) shows more entries, and a part of the value more levels.';

/**
 * Any value: as text, and what does not fit in a line as a tree to unfold as well.
 * @param translate puts the cells' own lines into stacks
 */
export function showValue(value: unknown, translate: TranslateStack, options: ShowOptions = {}): Shown {
  const entries = options.limit ?? treeLimits.entries;
  const nodes = Math.max(treeLimits.nodes, entries * 2);
  const tree = readValue(value, { ...treeLimits, entries, nodes }, translate);
  const whole = translate(valueText(value, options.limit ?? textEntries));
  const most = options.limit === undefined ? maxText : Infinity;
  const text = whole.length > most ? `${whole.slice(0, most)}…` : whole;
  const hint = isCut(tree) || text !== whole ? notAll : undefined;
  // A line says it all.
  if (typeof value !== 'object' || value === null || (!text.includes('\n') && hint === undefined))
    return textOnly(text);
  if (tree.entries.length === 0) return textOnly(text);
  const lines = hint === undefined ? text : `${text}\n${hint}`;
  return htmlAndText(valueHtml(tree, hint), lines);
}
