import type { Frame } from 'playwright-core';
import { contrast } from './contrast.ts';

/** A color in the page, and its total opacity including the elements around it. */
type Layer = { colour: string; opacity: number };
/** A text of a page, its color, and the layers behind it, the furthest first. */
type Text = { text: string; paint: Layer; grounds: Layer[] };
type Colour = readonly [red: number, green: number, blue: number];

/** Returns messages about every text of the page whose contrast is lower than this. */
export async function illegible(frame: Frame, least: number): Promise<{ seen: number; hard: string[] }> {
  const texts = await frame.evaluate(textsOfPage);
  const hard = texts.flatMap(({ text, paint, grounds }) => {
    const ground = grounds.reduce<Colour>(over, [0, 0, 0]);
    const [colour, behind] = [over(ground, paint), ground].map(written);
    const found = contrast(colour ?? '', behind ?? '');
    return found < least ? [`${text}: ${colour} on ${behind} is ${found.toFixed(2)}`] : [];
  });
  return { seen: texts.length, hard: [...new Set(hard)] };
}

/** Returns the visible color of a layer in front of another. */
function over(below: Colour, { colour, opacity }: Layer): Colour {
  // The values of `color(srgb …)` are from 0 to 1, all others from 0 to 255.
  const scale = colour.startsWith('color(') ? 255 : 1;
  const [red = 0, green = 0, blue = 0, alpha = 1] = (colour.match(/[\d.]+(?:e-?\d+)?/g) ?? []).map(Number);
  const share = alpha * opacity;
  const mix = (top: number, at: 0 | 1 | 2): number => top * scale * share + below[at] * (1 - share);
  return [mix(red, 0), mix(green, 1), mix(blue, 2)];
}

const written = (colour: Colour): string => `rgb(${colour.map(Math.round).join(', ')})`;

/** Runs in the page, so it can't use anything outside of this function. */
function textsOfPage(): Text[] {
  const found: Text[] = [];
  const probe = document.createElement('span');
  probe.style.color = 'var(--vscode-editor-background)';
  document.body.append(probe);
  const editor = getComputedStyle(probe).color;
  probe.remove();
  const look = (element: Element, behind: Layer[], outer: number): void => {
    const style = getComputedStyle(element);
    const opacity = outer * Number(style.opacity);
    // Skip an element with an opacity of 0, because it appears only when the mouse is near.
    if (style.display === 'none' || style.visibility === 'hidden' || opacity === 0) return;
    const grounds = [...behind, { colour: style.backgroundColor, opacity }];
    for (const child of (element.shadowRoot ?? element).childNodes) {
      if (child instanceof Element) look(child, grounds, opacity);
      const text = child.nodeType === Node.TEXT_NODE ? (child.textContent ?? '').trim() : '';
      if (text === '' || /^(?:style|script)$/i.test(element.tagName)) continue;
      const range = document.createRange();
      range.selectNodeContents(child);
      const colour = element instanceof SVGElement ? style.fill : style.color;
      if (range.getBoundingClientRect().width > 0)
        found.push({ text: text.slice(0, 40), paint: { colour, opacity }, grounds });
    }
  };
  look(document.body, [{ colour: editor, opacity: 1 }], 1);
  return found;
}
