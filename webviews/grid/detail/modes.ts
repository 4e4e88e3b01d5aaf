import { createElement } from '../../parts/elements.ts';
import type { CellValue } from '../cellValue.ts';
import { hexView } from './hexView.ts';
import { imageView } from './imageView.ts';
import { textView } from './textView.ts';
import { jsonNode, valueNode } from './treeNodes.ts';
import { treeView } from './treeView.ts';
import type { ValueView } from './valueView.ts';
import { vectorView } from './vectorView.ts';

/** The forms in which values are shown. */
export type ModeName = 'Tree' | 'Text' | 'Image' | 'Hex' | 'Vector';

export type Mode = {
  readonly name: ModeName;
  /** @param width of the place, in pixels */
  readonly create: (width: number) => ValueView;
};

/** Returns the forms in which a value can be shown, the best one first. */
export function valueModes(value: Exclude<CellValue, { kind: 'omitted' }>): Mode[] {
  switch (value.kind) {
    case 'null':
    case 'number':
    case 'boolean':
    case 'time': {
      const text = value.kind === 'null' ? 'null' : value.text;
      return [{ name: 'Text', create: () => shortView(text, value.kind) }];
    }
    case 'text': {
      const { bytes } = value;
      const node = jsonNode(bytes);
      const text: Mode = { name: 'Text', create: () => textView(bytes) };
      return node ? [{ name: 'Tree', create: () => treeView(node) }, text] : [text];
    }
    case 'binary': {
      const { bytes, mime } = value;
      const hex: Mode = { name: 'Hex', create: (width) => hexView(bytes, width) };
      return mime === undefined ? [hex] : [{ name: 'Image', create: () => imageView(bytes, mime) }, hex];
    }
    case 'vector':
      return [{ name: 'Vector', create: () => vectorView(value) }];
    case 'list':
    case 'map':
    case 'struct':
      return [{ name: 'Tree', create: () => treeView(valueNode(value)) }];
  }
}

/** Shows a number, a boolean, a time or a null. */
function shortView(text: string, kind: string): ValueView {
  const element = createElement('div', { className: `lance-text-view lance-value-${kind}`, role: 'group', text });
  element.tabIndex = 0;
  element.ariaLabel = 'Value';
  return { element, facts: [], focusTarget: element };
}
