declare const inertBrand: unique symbol;

/** Text in which VS Code finds neither a link nor an icon. Only `inert` and `withIcon` create it. */
export type InertText = string & { readonly [inertBrand]: true };

/** A character without width that allows no line break, so that text with it looks the same. */
export const wordJoiner = '\u2060';

/**
 * Separates the characters that VS Code reads as markup: `](` of links and `$(` of icons.
 *
 * VS Code applies `parseLinkedText` to notifications, progress messages, and the prompt and validation message of an
 * input box. `parseLinkedText` turns `[label](command:…)` into a link that runs the command on a click; http, https and
 * file addresses become links, too. `renderLabelWithIcons` draws `$(name)` as an icon. Neither function of VS Code
 * supports an escape, and both need the two characters side by side. Apply `inert` to the whole text, so that no two
 * parts form markup together.
 */
export const inert = (text: string): InertText => text.replaceAll(/[\]$](?=\()/g, `$&${wordJoiner}`) as InertText;

/** Puts a product icon before a label. */
export const withIcon = (icon: string, text: string): InertText => `$(${icon}) ${inert(text)}` as InertText;
