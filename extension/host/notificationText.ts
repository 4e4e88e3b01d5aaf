import { messageIn, nextStepIn } from '#shared/nextSteps.ts';

/** Maximum length of a notification, in characters. VS Code cuts off the end of a longer text, which has the hint. */
const longest = 360;

/**
 * Returns the text of a notification: the whole error if it is short, else its first lines and the hint. The log has
 * everything.
 */
export function notificationText(error: unknown): string {
  const message = messageIn('editor', error);
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
  error instanceof Error && 'hint' in error && typeof error.hint === 'string' ? nextStepIn('editor', error.hint) : '';
