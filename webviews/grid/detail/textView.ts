import { countText, sizeText } from '#shared/format/numbers.ts';
import { createButton, createElement } from '../../parts/elements.ts';
import { appendText } from './hiddenChars.ts';
import { splitText } from './textBlocks.ts';
import type { ValueView } from './valueView.ts';

/** Characters that are shown at first. */
const firstChars = 100_000;
/** Bytes that are decoded without a pause. */
const sliceBytes = 2 ** 20;
/** Height of a line in pixels, and the width of a character, for blocks that were not drawn yet. */
const lineHeight = 18;
const charWidth = 7.5;
/** Maximum height of the text. Chromium limits an element to 33.5 million pixels. */
const maxHeight = 30_000_000;

/** Shows a string with its line breaks. A long one begins with a part, and a button shows all. */
export function textView(bytes: Uint8Array): ValueView {
  const element = createElement('div', { className: 'lance-text-view', role: 'group' });
  element.tabIndex = 0;
  element.ariaLabel = 'Text';
  const isWhole = bytes.length <= firstChars;
  const closing = new AbortController();
  const text = newDecoder().decode(isWhole ? bytes : bytes.subarray(0, firstChars), { stream: !isWhole });
  if (bytes.length === 0) element.append(createElement('p', { className: 'lance-note', text: 'Empty text' }));
  const writer = new BlockWriter(element);
  writer.add(text);
  writer.end();
  if (isWhole) return { element, facts: [charsText(text.length), sizeText(bytes.length)], focusTarget: element };
  const more = createElement('div', { className: 'lance-more' });
  const note = createElement('span', { text: `The first ${sizeText(firstChars)} of ${sizeText(bytes.length)}` });
  const showAll = createButton({
    label: 'Show All',
    run: () => {
      more.remove();
      void addAll(element, bytes, closing.signal);
    },
  });
  more.append(note, showAll);
  element.append(more);
  return { element, facts: [sizeText(bytes.length)], focusTarget: element, close: () => closing.abort() };
}

const charsText = (count: number): string => `${countText(count)} ${count === 1 ? 'character' : 'characters'}`;

// A byte order mark is not removed, because it is part of the value.
const newDecoder = (): TextDecoder => new TextDecoder('utf-8', { ignoreBOM: true });

/** Shows the whole string again from its start, a part for each frame, so that the page can be used meanwhile. */
async function addAll(element: HTMLElement, bytes: Uint8Array, signal: AbortSignal): Promise<void> {
  const { scrollTop } = element;
  element.replaceChildren();
  element.focus();
  const decoder = newDecoder();
  const writer = new BlockWriter(element);
  for (let at = 0; at < bytes.length; at += sliceBytes) {
    writer.add(decoder.decode(bytes.subarray(at, at + sliceBytes), { stream: true }));
    if (at === 0) element.scrollTop = scrollTop;
    await new Promise((resolve) => requestAnimationFrame(resolve));
    if (signal.aborted) return;
    if (writer.height > maxHeight) {
      const text = `A browser can't show more of this text. Save it to see all ${sizeText(bytes.length)}.`;
      element.append(createElement('p', { className: 'lance-note', text }));
      return;
    }
  }
  writer.add(decoder.decode());
  writer.end();
}

/** Appends text in blocks. The browser lays out those in the view only. */
class BlockWriter {
  /** Estimated height of all blocks, in pixels. */
  height = 0;
  readonly #parent: HTMLElement;
  readonly #lineChars: number;
  #rest = '';
  #marks = 0;

  constructor(parent: HTMLElement) {
    this.#parent = parent;
    this.#lineChars = Math.max(20, Math.floor((parent.clientWidth || 400) / charWidth));
  }

  add(text: string): void {
    const { blocks, rest } = splitText(this.#rest + text);
    this.#rest = rest;
    for (const block of blocks) this.#append(block);
  }

  end(): void {
    if (this.#rest !== '') this.#append(this.#rest);
    this.#rest = '';
  }

  #append(text: string): void {
    const block = createElement('div', { className: 'lance-text-block' });
    this.#marks = appendText(block, text, this.#marks);
    let lines = 0;
    for (let at = 0; at < text.length;) {
      const next = text.indexOf('\n', at);
      const end = next === -1 ? text.length : next;
      lines += Math.max(1, Math.ceil((end - at) / this.#lineChars));
      at = end + 1;
    }
    const height = lines * lineHeight;
    block.style.containIntrinsicSize = `auto ${height}px`;
    this.height += height;
    this.#parent.append(block);
  }
}
