/** Maximum length of a file's name before its extension. File systems allow 255 bytes. */
const maxLength = 60;

/** Returns a name that every file system takes, from a name that may have any characters. */
export function fileName(base: string, extension: string): string {
  const plain = base
    .normalize('NFC')
    .replaceAll(/[^\p{L}\p{N}_.-]+/gu, '-')
    .replace(/^[.-]+/, '')
    .slice(0, maxLength)
    .replace(/[.-]+$/, '');
  return `${plain === '' ? 'value' : plain}.${extension}`;
}
