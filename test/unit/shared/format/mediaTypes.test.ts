import assert from 'node:assert/strict';
import { mediaType, wholeCharacters } from '#shared/format/mediaTypes.ts';

const latin = (text: string): Uint8Array => Buffer.from(text, 'latin1');
const utf8 = (text: string): Uint8Array => Buffer.from(text, 'utf8');

suite('the type of bytes', () => {
  for (const [head, label, mime] of [
    [latin('\x89PNG\r\n\x1a\n'), 'PNG image', 'image/png'],
    [latin('\xff\xd8\xff\xe0'), 'JPEG image', 'image/jpeg'],
    [latin('\0\0\0\x1cftypavif'), 'AVIF image', 'image/avif'],
    [latin('RIFF\x10\0\0\0WEBPVP8 '), 'WEBP image', 'image/webp'],
    [latin('RIFF\x10\0\0\0WAVEfmt '), 'WAV audio', 'audio/wav'],
    [latin('ID3\x04'), 'MP3 audio', 'audio/mpeg'],
    [latin('fLaC\0'), 'FLAC audio', 'audio/flac'],
    [latin(`OggS${'\0'.repeat(24)}OpusHead`), 'Opus audio', 'audio/ogg'],
    [latin('OggS\0\0'), 'Ogg audio', 'audio/ogg'],
    [latin('\x1a\x45\xdf\xa3\x9f\x42\x82\x84webm'), 'WebM video', 'video/webm'],
    [latin('\x1a\x45\xdf\xa3\x9f\x42\x82\x88matroska'), 'Matroska video', 'video/x-matroska'],
    [latin('\0\0\0\x18ftypisom'), 'MP4 video', 'video/mp4'],
    [latin('%PDF-1.7'), 'PDF', 'application/pdf'],
    [utf8('Grüße, 東京\n\tand more'), 'text', 'text/plain'],
    [utf8('<svg onload="alert(1)">'), 'text', 'text/plain'],
    [utf8('Grüße').subarray(0, 3), 'text', 'text/plain'],
    [latin('abc\0def'), 'bytes', undefined],
    [latin('Gr\xfc\xdfe and more'), 'bytes', undefined],
    [latin(''), 'bytes', undefined],
  ] as const) {
    test(`is ${label} for ${JSON.stringify(Buffer.from(head).toString('latin1'))}`, () => {
      const found = mediaType(head);
      assert.deepEqual([found.label, found.mime], [label, mime]);
    });
  }

  test('is found for text that is cut at any byte', () => {
    const bytes = utf8('aé東😀'.repeat(3));
    for (let end = 1; end <= bytes.length; end++) {
      const cut = bytes.subarray(0, end);
      assert.equal(mediaType(cut).kind, 'text', `${end} bytes`);
      assert.ok(
        utf8('aé東😀'.repeat(3))
          .toString()
          .startsWith(Buffer.from(wholeCharacters(cut)).toString()),
      );
    }
  });
});
