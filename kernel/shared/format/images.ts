const startsWith = (bytes: Uint8Array, head: readonly number[], at = 0): boolean =>
  head.every((byte, i) => bytes[at + i] === byte);

const ascii = (text: string): number[] => Array.from(text, (char) => char.charCodeAt(0));

const heads = {
  'image/png': [0x89, ...ascii('PNG'), 0x0d, 0x0a, 0x1a, 0x0a],
  'image/jpeg': [0xff, 0xd8, 0xff],
  'image/gif': ascii('GIF8'),
  'image/webp': ascii('RIFF'),
} as const;

type ImageMime = keyof typeof heads;

/** The kind of picture that bytes begin like (PNG, JPEG, GIF, WebP), or `undefined`. */
export function imageMime(bytes: Uint8Array): ImageMime | undefined {
  if (startsWith(bytes, heads['image/png'])) return 'image/png';
  if (startsWith(bytes, heads['image/jpeg'])) return 'image/jpeg';
  if (startsWith(bytes, heads['image/gif'])) return 'image/gif';
  // RIFF holds sounds and films too.
  if (startsWith(bytes, heads['image/webp']) && startsWith(bytes, ascii('WEBP'), 8)) return 'image/webp';
  return undefined;
}

/** A picture's MIME type as a field's metadata may say it, `{"mime": "image/png"}`; anything else `undefined`. */
export function declaredImageMime(metadata: ReadonlyMap<string, string>): string | undefined {
  const mime = metadata.get('mime');
  return mime !== undefined && /^image\/[a-z0-9.+-]+$/.test(mime) ? mime : undefined;
}
