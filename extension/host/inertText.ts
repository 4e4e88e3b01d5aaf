declare const inertBrand: unique symbol;

/** Text in which VS Code finds neither a link nor an icon. Only `inert` and `withIcon` create it. */
export type InertText = string & { readonly [inertBrand]: true };

/** Zero width, and no place for a line break, so that the text reads the same. */
export const wordJoiner = '\u2060';

/**
 * Separates what VS Code reads as markup: `](` of links and `$(` of icons.
 *
 * VS Code's `parseLinkedText` makes a link of `[label](command:…)`, also for http, https and file, wherever it shows a
 * notification, progress, or the prompt and the validation message of an input box; a click runs the command. Its
 * `renderLabelWithIcons` draws `$(name)`. Neither knows an escape, and both need the two characters side by side.
 * Apply it to the whole text, so that no two parts form markup together.
 */
export const inert = (text: string): InertText => text.replaceAll(/[\]$](?=\()/g, `$&${wordJoiner}`) as InertText;

/** Puts a product icon before a label. */
export const withIcon = (icon: string, text: string): InertText => `$(${icon}) ${inert(text)}` as InertText;
