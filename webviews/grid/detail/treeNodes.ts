import { type Node, parseTree, type ParseError } from 'jsonc-parser';
import { bytesText, countText } from '#shared/format/numbers.ts';
import type { CellValue } from '../cellValue.ts';

/** A value in a tree. Children are made when they are shown. */
export type TreeNode = {
  readonly name: string | undefined;
  readonly kind: 'null' | 'number' | 'boolean' | 'time' | 'text' | 'binary' | 'nested';
  /** The value in one line; of a nested value, its start. */
  readonly text: string;
  /** The number of children. */
  readonly size: number;
  readonly child: (index: number) => TreeNode;
};

/** Strings of more bytes are not parsed as JSON, because that takes time and memory. */
export const maxJsonBytes = 2 * 2 ** 20;
/** Characters of a string in a tree. */
const maxChars = 20_000;
const previewChars = 120;

const noChild = (): never => {
  throw new RangeError('The value has no children.');
};

const leaf = (name: string | undefined, kind: TreeNode['kind'], text: string): TreeNode => ({
  name,
  kind,
  text,
  size: 0,
  child: noChild,
});

// A byte order mark is not removed, because it is part of the value.
const utf8 = new TextDecoder('utf-8', { ignoreBOM: true });

/** Returns the tree of a value. */
export function valueNode(value: CellValue, name?: string): TreeNode {
  switch (value.kind) {
    case 'null':
      return leaf(name, 'null', 'null');
    case 'omitted':
      return leaf(name, 'binary', value.text);
    case 'number':
    case 'boolean':
    case 'time':
      return leaf(name, value.kind, value.text);
    case 'text':
      return leaf(name, 'text', cut(JSON.stringify(utf8.decode(value.bytes.subarray(0, maxChars)))));
    case 'binary':
      return leaf(name, 'binary', `${value.mime ?? 'binary'}, ${bytesText(value.bytes.length)}`);
    case 'vector': {
      const { values, itemText } = value;
      const size = values.length;
      return {
        name,
        kind: 'nested',
        text: `[${Array.from({ length: Math.min(size, 8) }, (_, at) => itemText(at)).join(', ')}${size > 8 ? ', …' : ''}]`,
        size,
        child: (at) => leaf(String(at), 'number', itemText(at)),
      };
    }
    case 'list':
    case 'map':
    case 'struct': {
      const { size, text, item } = value;
      return {
        name,
        kind: 'nested',
        text,
        size,
        child: (at) => {
          const child = item(at);
          return valueNode(child.value, child.name);
        },
      };
    }
  }
}

/**
 * Returns the tree of a string in JSON; `undefined` if it is not an object or a list in JSON, or too long. Numbers keep
 * their digits, and equal names stay apart.
 */
export function jsonNode(bytes: Uint8Array): TreeNode | undefined {
  if (bytes.length > maxJsonBytes) return undefined;
  const text = utf8.decode(bytes);
  if (!/^\s*[[{]/.test(text)) return undefined;
  const errors: ParseError[] = [];
  let root: Node | undefined;
  try {
    root = parseTree(text, errors, { disallowComments: true });
  } catch {
    // Thousands of brackets in each other are more than the parser's stack.
    return undefined;
  }
  return root && errors.length === 0 ? parsedNode(root, text, undefined) : undefined;
}

function parsedNode(node: Node, text: string, name: string | undefined): TreeNode {
  const source = (): string => text.slice(node.offset, node.offset + Math.min(node.length, maxChars));
  const children = node.children ?? [];
  switch (node.type) {
    case 'array':
      return nestedNode(node, text, name, (at) => parsedNode(children[at]!, text, String(at)));
    case 'object':
      return nestedNode(node, text, name, (at) => {
        const [key, value] = children[at]!.children!;
        return parsedNode(value!, text, String(key!.value));
      });
    case 'number':
    case 'boolean':
    case 'null':
      return leaf(name, node.type, source());
    case 'string':
    case 'property':
      return leaf(name, 'text', cut(source()));
  }
}

const nestedNode = (
  { offset, length, children = [] }: Node,
  text: string,
  name: string | undefined,
  child: (index: number) => TreeNode,
): TreeNode => ({
  name,
  kind: 'nested',
  text: oneLine(text.slice(offset, offset + Math.min(length, 2 * previewChars))),
  size: children.length,
  child,
});

/** Returns the start of JSON in one line. */
function oneLine(text: string): string {
  const line = text.replaceAll(/\s+/g, ' ');
  return line.length > previewChars ? `${line.slice(0, previewChars)}…` : line;
}

const cut = (text: string): string =>
  text.length > maxChars ? `${text.slice(0, maxChars)}… (${countText(text.length)} characters)` : text;
