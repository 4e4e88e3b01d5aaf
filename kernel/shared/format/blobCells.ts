import type { Data, Field } from '#arrow';
import { blobEncoding, blobV2, hasBlobDescriptors, hasBlobHeads } from '#shared/arrow/blobs.ts';
import { mediaType, wholeCharacters } from './mediaTypes.ts';
import { sizeText } from './numbers.ts';

/** A blob for display: its type and size, and the bytes that were read. */
export type BlobCell = {
  kind: 'blob';
  /** `WAV audio, 352 KB`, or the start of text. */
  text: string;
  size: number;
  /** `undefined` if the type is not known. */
  mime: string | undefined;
  /** The first bytes, all of them for a small image; empty if only the descriptor was read. */
  head: Uint8Array;
  /** Why no bytes were read. */
  reason?: string;
};

/** An image that was read whole. */
type ImageCell = { kind: 'image'; text: string; mime: string; bytes: Uint8Array };
type NullCell = { kind: 'null'; text: string };

/**
 * Returns a function from an index of one chunk of a column to its cell; `undefined` if the column does not have blobs.
 * A query returns descriptors of blobs. The panel also reads the first bytes.
 */
export function blobReader(
  field: Field | undefined,
  data: Data,
): ((index: number) => BlobCell | ImageCell | NullCell) | undefined {
  if (!field) return undefined;
  if (hasBlobHeads(field)) return headReader(data);
  return hasBlobDescriptors(field) ? descriptorReader(field, data) : undefined;
}

const missing: NullCell = { kind: 'null', text: 'null' };

function headReader(data: Data): (index: number) => BlobCell | ImageCell | NullCell {
  const [sizes, heads] = data.children;
  const offsets = heads!.valueOffsets as BigInt64Array;
  return (index) => {
    if (!data.getValid(index)) return missing;
    const size = Number((sizes!.values as BigUint64Array)[index]);
    const head = (heads!.values as Uint8Array).subarray(Number(offsets[index]), Number(offsets[index + 1]));
    return cellOfHead(size, head);
  };
}

/** Characters of text that are shown. */
const textChars = 500;

function cellOfHead(size: number, head: Uint8Array): BlobCell | ImageCell {
  if (size === 0) return { kind: 'blob', text: 'empty blob', size, mime: undefined, head };
  const { kind, mime, label } = mediaType(head);
  const text = `${label}, ${sizeText(size)}`;
  if (kind === 'image' && mime !== undefined && head.length === size) return { kind, text, mime, bytes: head };
  if (kind !== 'text') return { kind: 'blob', text, size, mime, head };
  const start = new TextDecoder().decode(wholeCharacters(head)).slice(0, textChars);
  return { kind: 'blob', text: `${text}: ${start}${start.length < size ? '…' : ''}`, size, mime, head };
}

const descriptorOnly = 'Only the table panel reads the bytes of blobs, and only of a directory.';

function descriptorReader(field: Field, data: Data): (index: number) => BlobCell | NullCell {
  const encoding = blobEncoding(field)!;
  const numbers = (name: string): ((index: number) => number) => {
    const at = data.type.children.findIndex((child: Field) => child.name === name);
    const child = data.children[at];
    return (index) => Number((child?.values as ArrayLike<number | bigint> | undefined)?.[index] ?? 0);
  };
  const [sizeAt, positionAt] = [numbers('size'), numbers('position')];
  const reason = encoding === blobV2 ? descriptorOnly : unreadableEncoding(field.name, encoding);
  return (index) => {
    if (!data.getValid(index)) return missing;
    const size = sizeAt(index);
    // The older encoding has no nulls: a null has position 1 and no bytes.
    if (encoding !== blobV2 && size === 0 && positionAt(index) === 1) return missing;
    const text = size === 0 ? 'empty blob' : `blob, ${sizeText(size)}`;
    return { kind: 'blob', text, size, mime: undefined, head: new Uint8Array(0), reason };
  };
}

/** Says why the bytes of blobs in another encoding than `lance.blob.v2` can't be read. */
export const unreadableEncoding = (column: string, encoding: string): string =>
  `Can't read the blobs of column "${column}": their encoding is "${encoding}". Write the column again as "${blobV2}".`;
