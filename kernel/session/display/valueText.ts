import { inspect } from 'node:util';
import { withoutControls } from '#shared/markup.ts';
import { countEntries, readValue, treeLimits, type ValueNode } from './valueTree.ts';

/** Entries of one collection that are written. */
export const textEntries = 100;
/** Entries of a collection within one that is written as an outline. */
const nestedEntries = 20;
/** Entries up to which Node's own way of writing values stays readable, and quick to make. */
const inspectedEntries = 1500;

/**
 * A value as text. Small ones as Node writes them, large ones as an outline.
 * @param entries of one collection
 */
export function valueText(value: unknown, entries = textEntries): string {
  const node = readValue(value, { ...treeLimits, entries, nodes: Math.max(inspectedEntries, entries) * 2 });
  return countEntries(node) <= inspectedEntries && !needsOutline(node)
    ? inspected(value, node, entries)
    : outline(node, entries, '');
}

/** Node limits lists and writes all properties of an object, whatever their number; of an Arrow table it writes buffers. */
const needsOutline = (node: ValueNode): boolean =>
  (node.brackets === '{}' && node.entries.length > 0 && node.omitted > 0) ||
  node.entries.some((entry) => entry.node.isArrow === true || needsOutline(entry.node));

function inspected(value: unknown, node: ValueNode, entries: number): string {
  try {
    return inspect(value, { colors: false, depth: 6, maxArrayLength: entries, maxStringLength: 10_000 });
  } catch {
    // Its own `inspect` threw.
    return outline(node, entries, '');
  }
}

const lineChars = 72;

function outline(node: ValueNode, limit: number, indent: string): string {
  const line = inOneLine(node);
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

/** A leaf, or a collection of a few leaves that are all there. */
function inOneLine(node: ValueNode): string | undefined {
  const [open, close] = node.brackets;
  if (node.kind !== 'object') return node.text;
  if (node.entries.length === 0) return nameText(node) + (node.omitted > 0 ? `${open} … ${close}` : `${open}${close}`);
  if (node.omitted > 0 || node.entries.length > nestedEntries) return undefined;
  const parts: string[] = [];
  for (const { label, node: child } of node.entries) {
    const part = inOneLine(child);
    if (part === undefined) return undefined;
    parts.push(labelText(node.brackets === '[]' ? undefined : label) + part);
  }
  const line = `${nameText(node)}${open} ${parts.join(', ')} ${close}`;
  return line.length > lineChars ? undefined : line;
}

/** As Node writes it, plain objects and arrays have no name. */
const nameText = ({ text, entries, omitted }: ValueNode): string =>
  text === 'Object' || (text === `Array(${entries.length + omitted})` && omitted === 0) ? '' : `${text} `;

const labelText = (label: string | undefined): string =>
  label === undefined ? '' : `${withoutControls(label)}${label.endsWith('=>') ? '' : ':'} `;
