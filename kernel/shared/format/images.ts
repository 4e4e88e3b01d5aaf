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

/** Detects an image format (PNG, JPEG, GIF, WebP) from the first bytes. */
export function imageMime(bytes: Uint8Array): ImageMime | undefined {
  if (startsWith(bytes, heads['image/png'])) return 'image/png';
  if (startsWith(bytes, heads['image/jpeg'])) return 'image/jpeg';
  if (startsWith(bytes, heads['image/gif'])) return 'image/gif';
  // RIFF is also a container for audio and video, so the name after it is checked too.
  if (startsWith(bytes, heads['image/webp']) && startsWith(bytes, ascii('WEBP'), 8)) return 'image/webp';
  return undefined;
}

/** Returns the image MIME type in a field's metadata, `{"mime": "image/png"}`, if any. */
export function declaredImageMime(metadata: ReadonlyMap<string, string>): string | undefined {
  const mime = metadata.get('mime');
  return mime !== undefined && /^image\/[a-z0-9.+-]+$/.test(mime) ? mime : undefined;
}
