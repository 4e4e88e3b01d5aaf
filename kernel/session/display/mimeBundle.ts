import { CatalogError, messageOf } from '#shared/errors.ts';
import type { MimeBundle } from '#shared/protocol/kernelMessages.ts';
import { isRecord } from '#shared/records.ts';

/**
 * A bundle of a cell's own making as what JSON can hold, which is how every front sends it. Numbers of 64 bits become
 * numbers where those are exact and text elsewhere; the bytes of a form become base64 text. What JSON leaves out below
 * that, a method for instance, is left out.
 * @throws CatalogError InvalidInput (13) naming the form that JSON can't hold, or what is no bundle
 */
export function jsonBundle(data: unknown): MimeBundle {
  if (!isRecord(data)) throw noBundle(`a value ${typeOf(data)} is no MIME bundle.`);
  return Object.fromEntries(Object.entries(data).map(([mime, form]) => [mime, jsonForm(mime, form)]));
}

function jsonForm(mime: string, form: unknown): unknown {
  if (!mime.includes('/')) throw noBundle(`"${mime}" is no MIME type.`);
  // As it is: a table is megabytes of text.
  if (typeof form === 'string') return form;
  if (form instanceof Uint8Array) return Buffer.from(form.buffer, form.byteOffset, form.length).toString('base64');
  let text: string | undefined;
  try {
    text = JSON.stringify(form, (_, value: unknown) => (typeof value === 'bigint' ? numberOrText(value) : value));
  } catch (cause) {
    throw unfit(mime, messageOf(cause).split('\n')[0] ?? '', cause);
  }
  if (text === undefined) throw unfit(mime, `it is ${typeOf(form)}.`);
  return JSON.parse(text);
}

const numberOrText = (value: bigint): number | string =>
  Number.isSafeInteger(Number(value)) ? Number(value) : String(value);

const typeOf = (value: unknown): string =>
  `of type ${value === null ? 'null' : Array.isArray(value) ? 'array' : typeof value}`;

const noBundle = (what: string): CatalogError =>
  new CatalogError(
    'InvalidInput',
    `display can't show this: ${what}`,
    "Give an object such as { 'text/plain': 'text' }.",
  );

const unfit = (mime: string, why: string, cause?: unknown): CatalogError =>
  new CatalogError('InvalidInput', `The form "${mime}" can't be sent as JSON: ${why}`, 'Give text or plain values.', {
    cause,
  });

/** One output in several forms, the richest first. */
export type Shown = { data: MimeBundle; metadata: Record<string, unknown> };

/** How a value is shown. */
export type ShowOptions = {
  /** Rows of a table (1,000 when not given), or entries of a collection (500), that the output holds at most. */
  limit?: number | undefined;
  /** Ends what is still being read for the output. */
  signal?: AbortSignal | undefined;
};

/** An output of text alone. */
export const textOnly = (text: string): Shown => ({ data: { 'text/plain': text }, metadata: {} });

/** An output of HTML and of the text that says the same. */
export const htmlAndText = (html: string, text: string): Shown => ({
  data: { 'text/html': html, 'text/plain': text },
  metadata: {},
});
