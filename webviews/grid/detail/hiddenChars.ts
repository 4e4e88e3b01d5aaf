/**
 * Characters that are not seen or change the order of those after them: control characters but tab and line breaks,
 * marks of direction, zero-width characters.
 */
// oxlint-disable-next-line no-control-regex -- control characters are what it finds
const hidden = /[\0-\x08\x0B\x0C\x0E-\x1F\x7F-\x9F\u00AD\u061C\u200B-\u200F\u2028-\u202E\u2060-\u2069\uFEFF]/g;

/** A part of a string: as it is, or a hidden character with its code. */
export type TextPart = { readonly text: string; readonly code?: string };

/** Splits a string at its hidden characters. */
export function textParts(text: string): TextPart[] {
  const parts: TextPart[] = [];
  let at = 0;
  for (const { 0: char, index } of text.matchAll(hidden)) {
    if (index > at) parts.push({ text: text.slice(at, index) });
    parts.push({ text: char, code: `U+${char.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0')}` });
    at = index + char.length;
  }
  if (at < text.length) parts.push({ text: text.slice(at) });
  return parts;
}

/** Maximum number of marked characters in a string. Further ones are replaced, because a mark takes memory. */
const maxMarks = 20_000;

/**
 * Adds a string to an element, and returns the number of hidden characters so far. A hidden character is in an element that shows its code and keeps its effect inside, so
 * that a string can't look like another one. Selected text stays as it is.
 */
export function appendText(element: HTMLElement, text: string, marksBefore = 0): number {
  let marks = marksBefore;
  if (marks > maxMarks) {
    element.append(text.replaceAll(hidden, '\uFFFD'));
    return marks;
  }
  for (const part of textParts(text)) {
    if (part.code === undefined) {
      element.append(part.text);
      continue;
    }
    const mark = document.createElement('span');
    mark.className = 'lance-hidden-char';
    mark.dataset['code'] = part.code;
    mark.textContent = part.text;
    element.append(mark);
    marks++;
  }
  return marks;
}
