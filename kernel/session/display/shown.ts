import type { MimeBundle } from '#shared/kernelMessages.ts';

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
