import { wordJoiner } from './inertText.ts';

declare const markdownBrand: unique symbol;

/** Markdown in which text from outside is only text. Only the functions of this file create it. */
export type InertMarkdown = string & { readonly [markdownBrand]: true };

/** Builds Markdown from constant markup and inert parts. The compiler rejects all other strings. */
export const markdown = (marks: TemplateStringsArray, ...parts: readonly (InertMarkdown | number)[]): InertMarkdown =>
  String.raw({ raw: marks }, ...parts) as InertMarkdown;

/** Joins the parts that have text as paragraphs. */
export const paragraphs = (parts: readonly (InertMarkdown | undefined)[]): InertMarkdown =>
  parts.filter((part) => part !== undefined && part !== '').join('\n\n') as InertMarkdown;

/** Escapes a string so that Markdown shows it literally in one line. Bare addresses do not become links. */
export const plainText = (text: string): InertMarkdown =>
  text
    .replaceAll(/\s+/g, ' ')
    .replaceAll(/[\\`*_{}[\]()#+!|~$<>&@]|:(?=\/\/)|(?<=www)\./gi, (mark) =>
      mark === '<' ? '&lt;' : mark === '&' ? '&amp;' : `\\${mark}`,
    ) as InertMarkdown;

/**
 * Returns a code block. Its fence is longer than any run of backticks in the text, so that the text can't close the
 * block.
 */
export function codeBlock(text: string, language = ''): InertMarkdown {
  const fence = '`'.repeat(Math.max(3, longestRun(text) + 1));
  return `${fence}${language}\n${text}\n${fence}` as InertMarkdown;
}

/** Returns a code span in one line. */
export function codeSpan(text: string): InertMarkdown {
  const mark = '`'.repeat(longestRun(text) + 1);
  const line = text.replaceAll(/\s+/g, ' ');
  return (mark.length === 1 ? `${mark}${line}${mark}` : `${mark} ${line} ${mark}`) as InertMarkdown;
}

const longestRun = (text: string): number => Math.max(0, ...(text.match(/`+/g) ?? []).map((run) => run.length));

/**
 * Returns the documentation of code as Markdown. Keeps the formatting and links to https addresses, but no other links.
 *
 * The text may come from a notebook or a package that the user only views. Images become text, because drawing an image
 * sends a request. Links to https stay, as in VS Code's own TypeScript support, because they open only after a click.
 * Addresses of files, programs, mail and plain http stay readable as text.
 *
 * Inserts a zero-width character into the markup instead of parsing it, because a second parser could read the text
 * differently from VS Code's parser. VS Code itself escapes HTML.
 */
export const documentationMarkdown = (text: string): InertMarkdown =>
  text
    // ![image](…), ![image][reference], ![reference]
    .replaceAll(/!(?=\[)/g, `!${wordJoiner}`)
    // `[link](address)` and `[reference]: address`. Keep https addresses. Also keep plain names, as in
    // `handlers[name](event)`.
    .replaceAll(/\](?=[(:](?!\s*<?https:\/\/|\s*[^\s:&\\</][^\s:&\\<]{0,200}(?:\s|$)))/gi, `]${wordJoiner}`)
    // <scheme:address>
    .replaceAll(/<(?!https:\/\/)(?=[a-z][a-z0-9+.-]*:)/gi, `<${wordJoiner}`)
    // Bare addresses of pages and mail. An https address is matched as a whole and kept.
    .replaceAll(
      /https:\/\/[\w.:/?#@%&=+-]*|(?:http|ftp):(?=\/\/)|www(?=\.)|[\w.!#$%&'*+/=?`{|}~-](?=@[\w-]+\.)/gi,
      (found) => (/^https:/i.test(found) ? found : found + wordJoiner),
    ) as InertMarkdown;
