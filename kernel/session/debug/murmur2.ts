const factor = 0x5bd1e995;

/**
 * MurmurHash2 with 32 bits over the UTF-8 bytes of a text: the hash by which Jupyter's fronts name the file of a cell.
 * @param seed an integer of 32 bits
 */
export function murmur2(text: string, seed: number): number {
  const bytes = Buffer.from(text, 'utf8');
  const whole = bytes.length - (bytes.length % 4);
  let hash = seed ^ bytes.length;
  for (let at = 0; at < whole; at += 4) {
    let word = Math.imul(bytes.readInt32LE(at), factor);
    word = Math.imul(word ^ (word >>> 24), factor);
    hash = Math.imul(hash, factor) ^ word;
  }
  if (whole < bytes.length) hash = Math.imul(hash ^ bytes.readUIntLE(whole, bytes.length - whole), factor);
  hash = Math.imul(hash ^ (hash >>> 13), factor);
  return (hash ^ (hash >>> 15)) >>> 0;
}
