import { CatalogError, messageOf } from '#shared/errors.ts';
import type { MimeBundle, ShownOutput } from '#shared/protocol/kernelMessages.ts';
import { isRecord } from '#shared/records.ts';

/**
 * Converts a bundle from a cell to values that JSON can hold, because clients receive bundles as JSON. A bigint becomes
 * a number if a number holds it exactly, else a string; the bytes of a form become base64. Nested values that JSON
 * omits, such as methods, are dropped.
 * @throws CatalogError InvalidInput (13) naming the form that JSON can't hold, or if the value is not a MIME bundle
 */
export function jsonBundle(data: unknown): MimeBundle {
  if (!isRecord(data)) throw noBundle(`expected a MIME bundle, got a value ${typeOf(data)}.`);
  return Object.fromEntries(Object.entries(data).map(([mime, form]) => [mime, jsonForm(mime, form)]));
}

function jsonForm(mime: string, form: unknown): unknown {
  if (!mime.includes('/')) throw noBundle(`"${mime}" is not a MIME type.`);
  // Strings are returned unchanged and not serialized for the check, because a table can be megabytes of base64.
  if (typeof form === 'string') return form;
  if (form instanceof Uint8Array) return Buffer.from(form.buffer, form.byteOffset, form.length).toString('base64');
  let text: string | undefined;
  try {
    text = JSON.stringify(form, (_, value: unknown) => (typeof value === 'bigint' ? numberOrText(value) : value));
  } catch (cause) {
    throw unfit(mime, messageOf(cause).split('\n')[0] ?? '', cause);
  }
  if (text === undefined) throw unfit(mime, `it is ${typeOf(form)}`);
  return JSON.parse(text);
}

const numberOrText = (value: bigint): number | string =>
  Number.isSafeInteger(Number(value)) ? Number(value) : String(value);

const typeOf = (value: unknown): string =>
  `of type ${value === null ? 'null' : Array.isArray(value) ? 'array' : typeof value}`;

const noBundle = (what: string): CatalogError =>
  new CatalogError(
    'InvalidInput',
    `Can't display this value: ${what}`,
    "Pass an object such as { 'text/plain': 'text' }.",
  );

const unfit = (mime: string, why: string, cause?: unknown): CatalogError =>
  new CatalogError('InvalidInput', `Can't send the form "${mime}" as JSON: ${why}.`, 'Pass a string or plain values.', {
    cause,
  });

/** One output in several forms, the richest first. `table` identifies its table in `OutputTables`. */
export type RenderedOutput = ShownOutput;

export type ShowOptions = {
  /** Maximum number of rows of a table (default: 1,000) or of entries of a collection (default: 500). */
  limit?: number | undefined;
  /** Whether all cells of a row must be in the output, even if the output then has fewer rows. */
  whole?: boolean | undefined;
  /** Whether thumbnails replace images that are too large for the output (default: true). */
  thumbnails?: boolean | undefined;
  /** Cancels the reading of data for the output. */
  signal?: AbortSignal | undefined;
};

export const textOnly = (text: string): RenderedOutput => ({ data: { 'text/plain': text }, metadata: {} });

/** Returns an output of HTML and equivalent text. */
export const htmlAndText = (html: string, text: string): RenderedOutput => ({
  data: { 'text/html': html, 'text/plain': text },
  metadata: {},
});
