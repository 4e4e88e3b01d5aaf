import { messageOf } from '#shared/errors.ts';

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

/** Of a text in a notification, in characters. The editor cuts longer ones off at their end, where it says what to do. */
const longest = 360;

/**
 * What a notification says of a failure: all of it where there is room, else the first of its lines and what to do. The log
 * has the whole.
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
  if (left > 0) text += ` … and ${left} more, in the log.`;
  else if (others.length === 0 && text.length + hint.length > longest)
    text = `${text.slice(0, Math.max(100, longest - hint.length))}… (all of it is in the log).`;
  return hasHint ? `${text} ${hint}` : text;
}

const hintOf = (error: unknown): string =>
  error instanceof Error && 'hint' in error && typeof error.hint === 'string' ? error.hint : '';
