/**
 * Reads a stream to its end. If the stream has more than `limit` bytes, stops reading and closes the stream.
 * @throws the error of `tooLong` for more bytes
 */
export async function readBytes(
  stream: AsyncIterable<Uint8Array>,
  limit: number,
  tooLong: () => Error,
): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  let total = 0;
  for await (const chunk of stream) {
    total += chunk.length;
    if (total > limit) throw tooLong();
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}
