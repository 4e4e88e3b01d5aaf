import { countText } from '#shared/format/numbers.ts';
import { createButton, createElement } from '../../parts/elements.ts';
import { appendText } from './hiddenChars.ts';
import type { TreeNode } from './treeNodes.ts';
import type { ValueView } from './valueView.ts';

/** Children that are shown at once. */
const step = 200;
/** Characters of a string that are shown before the user wants all. */
const shortChars = 300;

type Item = { readonly element: HTMLElement; readonly toggle: ((isOpen: boolean) => void) | undefined };

/** Shows a nested value as a tree with its first level open. Arrow keys move in it as in the editor's trees. */
export function treeView(root: TreeNode): ValueView {
  const element = createElement('div', { className: 'lance-tree', role: 'tree' });
  element.ariaLabel = 'Fields and items';
  const items = new WeakMap<Element, Item>();
  addChildren(element, root, 1, items);
  if (root.size === 0) element.append(createElement('p', { className: 'lance-note', text: 'Empty' }));
  const first = element.querySelector<HTMLElement>('[role=treeitem]');
  if (first) first.tabIndex = 0;
  else element.tabIndex = 0;
  element.addEventListener('keydown', (event) => onKey(event, element, items));
  element.addEventListener('focusin', ({ target }) => {
    const item = target instanceof Element ? target.closest<HTMLElement>('[role=treeitem]') : null;
    if (!item) return;
    for (const other of element.querySelectorAll<HTMLElement>('[role=treeitem][tabindex="0"]')) other.tabIndex = -1;
    item.tabIndex = 0;
  });
  return {
    element,
    facts: [`${countText(root.size)} ${root.size === 1 ? 'item' : 'items'}`],
    get focusTarget() {
      return element.querySelector<HTMLElement>('[role=treeitem][tabindex="0"]') ?? element;
    },
  };
}

/** Adds the next children of a node, and a button if it has more. */
function addChildren(
  parent: HTMLElement,
  node: TreeNode,
  level: number,
  items: WeakMap<Element, Item>,
  from = 0,
): HTMLElement | undefined {
  const end = Math.min(node.size, from + step);
  const added = Array.from({ length: end - from }, (_, at) => treeItem(node.child(from + at), level, items));
  parent.append(...added);
  if (end < node.size) {
    const label = `Show ${countText(Math.min(step, node.size - end))} More of ${countText(node.size - end)}`;
    const more = createButton({
      label,
      run: () => {
        more.remove();
        addChildren(parent, node, level, items, end)?.focus();
      },
    });
    more.className = 'lance-tree-more';
    // A tree has no other children than its items.
    more.role = 'treeitem';
    more.tabIndex = -1;
    more.ariaLevel = String(level);
    more.style.marginLeft = `${indent(level)}px`;
    parent.append(more);
  }
  return added[0];
}

const indent = (level: number): number => 8 + (level - 1) * 14;

function treeItem(node: TreeNode, level: number, items: WeakMap<Element, Item>): HTMLElement {
  const element = createElement('div', { role: 'treeitem' });
  element.tabIndex = -1;
  element.ariaLevel = String(level);
  const line = createElement('div', { className: 'lance-tree-line' });
  line.style.paddingLeft = `${indent(level)}px`;
  const twistie = createElement('span', { className: 'lance-twistie' });
  twistie.ariaHidden = 'true';
  line.append(twistie);
  if (node.name !== undefined) {
    const name = createElement('span', { className: 'lance-tree-name' });
    appendText(name, node.name);
    line.append(name, ' ');
  }
  line.append(valueElement(node));
  element.append(line);
  const toggle = node.size > 0 ? toggleOf(element, node, level, items) : undefined;
  if (toggle) {
    element.ariaExpanded = 'false';
    line.addEventListener('click', () => toggle(element.ariaExpanded !== 'true'));
  }
  items.set(element, { element, toggle });
  return element;
}

function toggleOf(
  element: HTMLElement,
  node: TreeNode,
  level: number,
  items: WeakMap<Element, Item>,
): (isOpen: boolean) => void {
  let group: HTMLElement | undefined;
  return (isOpen) => {
    element.ariaExpanded = String(isOpen);
    if (!isOpen) return group?.remove();
    if (!group) {
      group = createElement('div', { role: 'group' });
      addChildren(group, node, level + 1, items);
    }
    element.append(group);
  };
}

function valueElement({ kind, text, size }: TreeNode): HTMLElement {
  const value = createElement('span', { className: `lance-value-${kind}` });
  if (kind === 'nested') {
    appendText(value, `${text} `);
    value.append(createElement('span', { className: 'lance-tree-count', text: countText(size) }));
    return value;
  }
  appendText(value, text.length > shortChars ? `${text.slice(0, shortChars)}… ` : text);
  if (text.length <= shortChars) return value;
  const all = createButton({
    label: 'Show All',
    run: () => {
      value.replaceChildren();
      appendText(value, text);
    },
  });
  value.append(all);
  return value;
}

function onKey(event: KeyboardEvent, tree: HTMLElement, items: WeakMap<Element, Item>): void {
  if (event.altKey || event.ctrlKey || event.metaKey) return;
  const all = [...tree.querySelectorAll<HTMLElement>('[role=treeitem]')];
  const at = all.findIndex((item) => item === event.target);
  const item = all[at];
  if (!item) return;
  const isOpen = item.ariaExpanded === 'true';
  const toggle = items.get(item)?.toggle;
  const target = targetOf(event.key, { all, at, item, isOpen });
  if (target) target.focus();
  else if (event.key === 'ArrowRight' || event.key === 'ArrowLeft') toggle?.(event.key === 'ArrowRight');
  else if ((event.key === 'Enter' || event.key === ' ') && toggle) toggle(!isOpen);
  else return;
  event.preventDefault();
}

type Focused = {
  readonly all: readonly HTMLElement[];
  readonly at: number;
  readonly item: HTMLElement;
  readonly isOpen: boolean;
};

/** Returns the item that a key moves to; `undefined` if the key doesn't move. */
function targetOf(key: string, { all, at, item, isOpen }: Focused): HTMLElement | undefined {
  switch (key) {
    case 'ArrowDown':
      return all[Math.min(at + 1, all.length - 1)];
    case 'ArrowUp':
      return all[Math.max(at - 1, 0)];
    case 'Home':
      return all[0];
    case 'End':
      return all.at(-1);
    case 'ArrowRight':
      return isOpen ? all[at + 1] : undefined;
    case 'ArrowLeft':
      return isOpen ? undefined : (item.parentElement?.closest<HTMLElement>('[role=treeitem]') ?? undefined);
    default:
      return undefined;
  }
}
