/**
 * Yields items until they have `maxBytes` bytes together, including the item that reaches this number. So the first
 * item is always yielded. Without a limit, yields all items.
 */
export async function* untilBytes<T>(
  items: AsyncIterable<T>,
  maxBytes: number | undefined,
  bytesOf: (item: T) => number,
): AsyncGenerator<T, void, undefined> {
  let bytes = 0;
  for await (const item of items) {
    yield item;
    bytes += bytesOf(item);
    if (maxBytes !== undefined && bytes >= maxBytes) return;
  }
}
