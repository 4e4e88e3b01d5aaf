import { UsageError } from './command.ts';

/** The names of a path as it is typed: `shop/orders`, or `["shop","a/b"]` where one has a slash. @throws UsageError */
export function pathOf(text: string): string[] {
  // A variable of a shell that is not set must not mean everything.
  if (text !== '' && !text.startsWith('[')) return text.split('/').filter((part) => part !== '');
  try {
    const path: unknown = JSON.parse(text);
    if (Array.isArray(path) && path.every((part): part is string => typeof part === 'string')) return path;
  } catch {
    // Told below, with what it should be.
  }
  throw new UsageError(`"${text}" is no path: write shop/orders, or ["shop","orders"].`);
}
