/** How the folders of a catalog begin: `orders.lance`, `f1586a7f_shop$orders`, `__manifest`. */
const catalogFolder = String.raw`(?:[^\s"'\/]+\.lance|[0-9a-f]{8}_[^\s"'\/]*\$|__manifest)`;

const quoted = (text: string): string => text.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`);

/**
 * A text without a local path in it: what lies below the path is told from there, the path itself is `…`. The engine
 * writes paths with `/` and without the slash that they begin with.
 */
export function withoutPath(text: string, path: string): string {
  const whole = path.replaceAll('\\', '/').replace(/\/+$/, '');
  const bare = whole.replace(/^\/+/, '');
  if (bare === '') return text;
  // One word is also the name of a namespace: `data/orders` is a table, and `data/orders.lance` a folder.
  const isWord = !bare.includes('/');
  const forms = [...new Set([path.replace(/[\\/]+$/, ''), whole]), ...(isWord ? [] : [bare])].map(
    (form) => `(?:file://)?${quoted(form)}`,
  );
  const before = String.raw`(?<![\w.\/-])`;
  const below = new RegExp(String.raw`${before}(?:${forms.join('|')})[\\/]+(?=[^\s"'])`, 'g');
  const itself = new RegExp(String.raw`${before}(?:${forms.join('|')})[\\/]*(?![\w$-]|\.\w)`, 'g');
  const bareWord = new RegExp(String.raw`${before}${quoted(bare)}\/(?=${catalogFolder})`, 'g');
  return text.replaceAll(below, '').replaceAll(itself, '…').replaceAll(bareWord, '');
}
