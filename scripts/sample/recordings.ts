import { readFileSync } from 'node:fs';
import { Field, Int64, LargeBinary, Schema, Struct, Utf8 } from '#arrow';
import type { Catalog } from '#catalog/catalog.ts';
import { blobV2 } from '#shared/arrow/blobs.ts';
import { productPicture } from './pictures.ts';

const sampleRate = 16_000;
const noteSeconds = 0.4;

/** Melodies as semitones above A3. */
const melodies = {
  'Rising fourths': [0, 5, 10, 15, 10, 5, 0, -2],
  'Church bell': [12, 7, 3, 0, 12, 7, 3, 0],
  'Night train': [0, 0, 3, 3, 5, 5, 7, 3],
  Cuckoo: [9, 5, 9, 5, 4, 5, 7, 5],
} as const;

const note = `Recorded with one microphone at 16 kHz, mono.

The melodies are computed, so every copy of this table is the same.
`;

/**
 * Creates a table with a column of blobs: melodies as WAV files, a short video in VP8, an image, text, an empty blob
 * and a null.
 */
export async function createRecordings(catalog: Catalog, namespacePath: string[]): Promise<void> {
  const blob = new Struct([new Field('data', new LargeBinary(), true), new Field('uri', new Utf8(), true)]);
  const schema = new Schema([
    new Field('id', new Int64(), false),
    new Field('title', new Utf8(), false),
    new Field('recording', blob, true, new Map([['ARROW:extension:name', blobV2]])),
  ]);
  const files: [title: string, file: Uint8Array | null][] = [
    ...Object.entries(melodies).map(([title, notes]): [string, Uint8Array] => [title, melody(notes)]),
    // Encoded with VP8, because there is no encoder of videos here.
    ['A day in the hills', readFileSync(new URL('clip.webm', import.meta.url))],
    ['Cover', productPicture('clock', 210)],
    ['Notes', Buffer.from(note)],
    ['Silence', new Uint8Array(0)],
    ['Lost tape', null],
  ];
  const rows = files.map(([title, data], row) => ({
    id: BigInt(row + 1),
    title,
    recording: data && { data: new Uint8Array(data), uri: null },
  }));
  await catalog.createTable('recordings', rows, { schema, namespacePath });
}

/** Returns a WAV file of 16-bit samples, one channel. */
export function melody(notes: readonly number[]): Uint8Array {
  const perNote = Math.round(sampleRate * noteSeconds);
  const samples = new Int16Array(perNote * notes.length);
  for (const [index, semitone] of notes.entries()) {
    const pitch = 220 * 2 ** (semitone / 12);
    for (let at = 0; at < perNote; at++) {
      const time = at / sampleRate;
      const tone = Math.sin(2 * Math.PI * pitch * time) + 0.3 * Math.sin(4 * Math.PI * pitch * time);
      // A note starts within 10 ms and fades, so that it does not click.
      const loudness = Math.min(1, time / 0.01) * Math.exp(-5 * time) * Math.min(1, (noteSeconds - time) / 0.02);
      samples[index * perNote + at] = Math.round(18_000 * tone * loudness);
    }
  }
  const header = Buffer.alloc(44);
  header.write('RIFF', 0, 'latin1');
  header.writeUInt32LE(36 + samples.byteLength, 4);
  header.write('WAVEfmt ', 8, 'latin1');
  header.writeUInt32LE(16, 16);
  header.writeUInt16LE(1, 20);
  header.writeUInt16LE(1, 22);
  header.writeUInt32LE(sampleRate, 24);
  header.writeUInt32LE(2 * sampleRate, 28);
  header.writeUInt16LE(2, 32);
  header.writeUInt16LE(16, 34);
  header.write('data', 36, 'latin1');
  header.writeUInt32LE(samples.byteLength, 40);
  return Buffer.concat([header, new Uint8Array(samples.buffer)]);
}
