import { messageOf } from '#shared/errors.ts';

// Escapes text of clusters, clouds and settings for Markdown, so that it can't add links, images or HTML.

/** Escapes a string so that Markdown shows it literally in one line. */
export const plainText = (text: string): string =>
  text
    .replaceAll(/\s+/g, ' ')
    .replaceAll(/[\\`*_{}[\]()#+!|~$<>&]/g, (mark) => (mark === '<' ? '&lt;' : mark === '&' ? '&amp;' : `\\${mark}`));

/** Returns a code block whose fence is longer than any in the text. */
export function codeBlock(text: string, language = ''): string {
  const longest = Math.max(2, ...(text.match(/`+/g) ?? []).map((run) => run.length));
  const fence = '`'.repeat(longest + 1);
  return `${fence}${language}\n${text}\n${fence}`;
}

/** Maximum length of a notification, in characters: VS Code cuts off the end, which has the hint. */
const longest = 360;

/**
 * Returns the text of a notification: the whole error if it is short, else its first lines and the hint. The log has
 * everything.
 */
export function notificationText(error: unknown): string {
  const message = messageOf(error);
  const hint = hintOf(error);
  const hasHint = hint !== '' && message.endsWith(hint);
  const body = hasHint ? message.slice(0, -hint.length) : message;
  const [first = '', ...others] = body
    .split('\n')
    .map((line) => line.trim())
    .filter(Boolean);
  let text = first;
  let shown = 0;
  for (const line of others) {
    if (text.length + line.length + hint.length > longest) break;
    text += `${shown === 0 ? '' : ' ·'} ${line}`;
    shown++;
  }
  const left = others.length - shown;
  if (left > 0) text += ` … and ${left} more (see the log).`;
  else if (others.length === 0 && text.length + hint.length > longest)
    text = `${text.slice(0, Math.max(100, longest - hint.length))}… (see the log).`;
  return hasHint ? `${text} ${hint}` : text;
}

const hintOf = (error: unknown): string =>
  error instanceof Error && 'hint' in error && typeof error.hint === 'string' ? error.hint : '';
