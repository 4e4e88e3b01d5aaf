import { displayPath, idDelimiter, type NamespacePath } from '#shared/names.ts';

/** Names of folders in a catalog: `orders.lance`, `f1586a7f_shop$orders`, `__manifest`. */
const catalogFolder = String.raw`(?:[^\s"'\/]+\.lance|[0-9a-f]{8}_[^\s"'\/]*\$|__manifest)`;

const quoted = (text: string): string => text.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`);

/**
 * Returns `text` without the local path `path`: paths below it become relative, the path itself becomes `…`. The
 * engine writes paths with `/` and without the leading slash.
 */
export function withoutPath(text: string, path: string): string {
  const whole = path.replaceAll('\\', '/').replace(/\/+$/, '');
  const bare = whole.replace(/^\/+/, '');
  if (bare === '') return text;
  // A single word is left, because it can also be the name of a namespace: `data/orders` is a table,
  // `data/orders.lance` a folder.
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

/**
 * Returns `text` with the names of a namespace as if it were the root: `"shop/eu/orders"` becomes `"orders"`, and the
 * namespace itself `"/"`. Messages name objects in double quotes; the engine joins their names by `$`.
 */
export function withoutNamespace(text: string, path: NamespacePath): string {
  if (path.length === 0) return text;
  const shown = displayPath(path);
  const joined = new RegExp(String.raw`(?<![\w.$-])${quoted(path.join(idDelimiter) + idDelimiter)}`, 'g');
  return text.replaceAll(`"${shown}/`, '"').replaceAll(`"${shown}"`, '"/"').replaceAll(joined, '');
}
