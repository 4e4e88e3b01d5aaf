import { types } from 'node:util';
import { isObject } from './shapes.ts';
import { childrenOf, leafText, nameOf, ownWords, type Child } from './valueParts.ts';
import { arrowShape } from './arrowShape.ts';
import { cutText, withoutControls } from '#shared/markup.ts';

// A value as a tree of text, bounded in all directions. Nothing of the value is run for it: no getter, no proxy's trap.

export type NodeKind = 'string' | 'number' | 'boolean' | 'empty' | 'object' | 'function' | 'note';

export type ValueNode = {
  kind: NodeKind;
  /** What it is in one line; `Map(3)` for what has entries. */
  text: string;
  /** A text of many lines: a long string, the stack of an error. */
  long?: string;
  entries: readonly ValueEntry[];
  /** Entries that are not in `entries`. */
  omitted: number;
  /** Whether it is a table, a column or the like, whose insides are not looked at. */
  isArrow?: boolean;
  /** Brackets around its entries. */
  brackets: '[]' | '{}';
};
export type ValueEntry = { label: string | undefined; node: ValueNode };

export type TreeLimits = {
  /** Entries of one collection. */
  entries: number;
  /** Levels below the value. */
  depth: number;
  /** Entries of the whole tree; those near the root come first. */
  nodes: number;
  /** Characters of a string. */
  chars: number;
};

export const treeLimits: TreeLimits = { entries: 500, depth: 6, nodes: 1000, chars: 10_000 };

/** Puts the cells' own lines into the stack of an error. */
export type TranslateStack = (stack: string) => string;

/** Characters of a string that stand in the line of its entry. */
const lineChars = 160;

type Open = { node: Writable; value: object; depth: number; above: readonly object[] };
type Writable = ValueNode & { entries: ValueEntry[] };

/** Reads a value, level by level, so that what is left out is deep inside. */
export function readValue(
  value: unknown,
  limits: TreeLimits = treeLimits,
  translate: TranslateStack = (stack) => stack,
): ValueNode {
  let left = limits.nodes;
  const open: Open[] = [];
  const enter = (child: unknown, depth: number, above: readonly object[]): Writable => {
    const node = nodeOf(child, limits);
    if (node.kind !== 'object' || !isObject(child)) return node;
    if (above.includes(child)) return { ...node, kind: 'note', text: `[Circular ${node.text}]` };
    open.push({ node, value: child, depth, above });
    return node;
  };
  const root = enter(value, 0, []);
  for (let at = 0; at < open.length; at++) {
    const { node, value: parent, depth, above } = open[at]!;
    const wanted = depth >= limits.depth ? 0 : Math.min(limits.entries, left);
    const { children, total } = childrenOf(parent, wanted);
    left -= children.length;
    node.omitted = total - children.length;
    const path = [...above, parent];
    for (const child of children) node.entries.push({ label: child.label, node: childNode(child, depth + 1, path) });
  }
  return root;

  function childNode(child: Child, depth: number, path: readonly object[]): ValueNode {
    if ('note' in child)
      return { ...leaf('note', child.note), ...(child.stack !== undefined && { long: translate(child.stack) }) };
    return enter(child.value, depth, path);
  }
}

const leaf = (kind: NodeKind, text: string): Writable => ({ kind, text, entries: [], omitted: 0, brackets: '{}' });

function nodeOf(value: unknown, limits: TreeLimits): Writable {
  switch (typeof value) {
    case 'string':
      return stringNode(value, limits);
    case 'number':
    case 'bigint':
      return leaf('number', leafText(value));
    case 'boolean':
      return leaf('boolean', String(value));
    case 'function':
      return leaf('function', leafText(value));
    case 'undefined':
    case 'symbol':
      return leaf('empty', String(value));
    case 'object': {
      if (value === null) return leaf('empty', 'null');
      const shape = arrowShape(value);
      if (shape !== undefined) return { ...leaf('note', shape), isArrow: true };
      const words = ownWords(value);
      if (words !== undefined) return linesNode(words);
      const name = nameOf(value);
      if (name === undefined) return leaf('note', leafText(value));
      return { ...leaf('object', name), brackets: isList(value) ? '[]' : '{}' };
    }
  }
}

function stringNode(value: string, { chars }: TreeLimits): Writable {
  const isLong = value.length > lineChars || /\n./s.test(value);
  const node = leaf('string', leafText(isLong ? `${value.slice(0, lineChars)}…` : value));
  if (!isLong) return node;
  const rest = value.length - chars;
  return {
    ...node,
    long: rest > 0 ? `${value.slice(0, chars)}… ${rest.toLocaleString('en-US')} more characters` : value,
  };
}

function linesNode(words: string): Writable {
  const [first = ''] = words.split('\n', 1);
  const node = leaf('note', cutText(withoutControls(first), lineChars));
  return node.text === words ? node : { ...node, long: words };
}

const isList = (value: object): boolean => Array.isArray(value) || types.isTypedArray(value) || types.isSet(value);

/** Whether anything of the value is missing in the tree. */
export const isCut = (node: ValueNode): boolean => node.omitted > 0 || node.entries.some((entry) => isCut(entry.node));

/** How many entries the tree has on all its levels. */
export const countEntries = (node: ValueNode): number =>
  node.entries.reduce((sum, entry) => sum + 1 + countEntries(entry.node), 0);
