// What a cluster, a cloud or a person's settings say is put into Markdown as text: no link, image or html of theirs is one.

/** A text as Markdown that shows just that text, in one line. */
export const plainText = (text: string): string =>
  text
    .replaceAll(/\s+/g, ' ')
    .replaceAll(/[\\`*_{}[\]()#+!|~$<>&]/g, (mark) => (mark === '<' ? '&lt;' : mark === '&' ? '&amp;' : `\\${mark}`));

/** A text as a block of code, with a fence that is longer than any in it. */
export function codeBlock(text: string, language = ''): string {
  const longest = Math.max(2, ...(text.match(/`+/g) ?? []).map((run) => run.length));
  const fence = '`'.repeat(longest + 1);
  return `${fence}${language}\n${text}\n${fence}`;
}
