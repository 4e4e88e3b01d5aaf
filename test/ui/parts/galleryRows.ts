import { Binary, Field, Float64, Int64, Schema, Table, tableToIPC, Utf8, vectorFromArray } from '#arrow';
import { encodePng } from '../../../scripts/sample/pictures.ts';

/** The table of the gallery's tests: images of one color each, so that a drawn image tells its row. */
export const gallerySchema = new Schema([
  new Field('id', new Int64(), false),
  new Field('title', new Utf8(), true),
  new Field('score', new Float64(), true),
  new Field('image', new Binary(), true),
]);

export const colorOfRow = (row: number): number[] => [row % 251, (row >> 8) % 251, (row * 7) % 251];

const size = { width: 64, height: 48 };

/** Row 3 has no image, row 4 a damaged one, and row 5 other bytes. */
function imageOfRow(row: number): Uint8Array | null {
  if (row === 3) return null;
  if (row === 5) return Uint8Array.from([1, 2, 3, 4]);
  const [red, green, blue] = colorOfRow(row);
  const rgba = new Uint8Array(size.width * size.height * 4);
  for (let at = 0; at < rgba.length; at += 4) rgba.set([red!, green!, blue!, 255], at);
  const file = encodePng({ ...size, rgba });
  return row === 4 ? Buffer.concat([file.subarray(0, 40), Buffer.alloc(60)]) : file;
}

/** Returns rows [start, end) of some columns as a stream. */
export function galleryStream(start: number, end: number, columns: readonly number[] = [0, 1, 2, 3]): Uint8Array {
  const rows = Array.from({ length: end - start }, (_, index) => start + index);
  const values = [
    () => vectorFromArray(rows.map(BigInt), new Int64()),
    () =>
      vectorFromArray(
        rows.map((row) => `Photo ${row}`),
        new Utf8(),
      ),
    () =>
      vectorFromArray(
        rows.map((row) => row / 4),
        new Float64(),
      ),
    () => vectorFromArray(rows.map(imageOfRow), new Binary()),
  ];
  const fields = columns.map((column) => gallerySchema.fields[column]!);
  const vectors = Object.fromEntries(columns.map((column) => [gallerySchema.fields[column]!.name, values[column]!()]));
  return tableToIPC(new Table(new Schema(fields), vectors), 'stream');
}
