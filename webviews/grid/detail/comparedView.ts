import { createElement } from '../../parts/elements.ts';
import type { CellValue } from '../cellValue.ts';
import { type Mode, type ModeName, valueModes } from './modes.ts';
import type { ValueView } from './valueView.ts';

/** A value of a changed cell, and the buttons that copy and save it. */
export type ComparedValue = { readonly value: CellValue; readonly buttons: readonly HTMLElement[] };

/** From this width of the pane on, the values are side by side, as in detail.css. */
const besideWidth = 480;

const shortKinds: ReadonlySet<CellValue['kind']> = new Set(['null', 'number', 'boolean', 'time', 'omitted']);

/**
 * Returns the forms in which the two values of a changed cell can be shown, the best one first. A value without the
 * chosen form is shown in its best one.
 */
export function comparedModes(before: ComparedValue, after: ComparedValue): Mode[] {
  const [earlier, later] = [modesOf(before.value), modesOf(after.value)];
  const [first, second] = later.length >= earlier.length ? [later, earlier] : [earlier, later];
  const names = new Set([...first, ...second].map(({ name }) => name));
  return [...names].map((name) => ({
    name,
    create: (width) => {
      const sideWidth = width >= besideWidth ? width / 2 : width;
      return comparedView(
        { ...before, view: findMode(earlier, name).create(sideWidth) },
        { ...after, view: findMode(later, name).create(sideWidth) },
      );
    },
  }));
}

const findMode = (modes: readonly Mode[], wanted: ModeName): Mode =>
  modes.find(({ name }) => name === wanted) ?? modes[0]!;

const modesOf = (value: CellValue): Mode[] =>
  value.kind === 'omitted'
    ? [{ name: 'Text', create: () => noteView(`${value.text}. ${value.reason}`) }]
    : valueModes(value);

function noteView(text: string): ValueView {
  const element = createElement('p', { className: 'lance-note', text });
  element.tabIndex = 0;
  return { element, facts: [], focusTarget: element };
}

type Side = ComparedValue & { readonly view: ValueView };

/** Shows the value before a change above or beside the one after it, each under its name. */
function comparedView(before: Side, after: Side): ValueView {
  const element = createElement('div', { className: 'lance-compared' });
  const isShort = [before, after].every(({ value }) => shortKinds.has(value.kind));
  element.classList.toggle('lance-is-short', isShort);
  element.append(sideElement('Before', before), sideElement('After', after));
  return {
    element,
    facts: [],
    focusTarget: after.view.focusTarget,
    close: () => {
      before.view.close?.();
      after.view.close?.();
    },
  };
}

function sideElement(name: 'Before' | 'After', { view, buttons }: Side): HTMLElement {
  const element = createElement('section', { className: 'lance-compared-side' });
  element.ariaLabel = name;
  const head = createElement('div', { className: 'lance-compared-head' });
  const facts = createElement('span', { className: 'lance-detail-facts', text: view.facts.join(' · ') });
  view.onFacts?.((next) => (facts.textContent = next.join(' · ')));
  head.append(createElement('strong', { text: name }), facts, ...buttons);
  element.append(head, view.element);
  return element;
}
