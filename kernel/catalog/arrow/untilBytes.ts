/**
 * Yields items up to and including the one with which they have `maxBytes` bytes together; all without a limit. So a
 * limited result that is not empty has at least one item.
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
