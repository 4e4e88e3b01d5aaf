// What a notebook sees of `display` and `progress`. The declarations of this file are part of what cells are checked
// against, so it needs nothing else.

export type DisplayOptions = {
  /** Names the place of the output, so that a later call with the same name replaces it. */
  id?: string | undefined;
};

export type DisplayValueOptions = DisplayOptions & {
  /** Rows of a table (1,000 when not given), or entries of a collection (500), that are shown at most. */
  limit?: number | undefined;
};

/** `display` of a notebook. Its promises are settled once the value is on screen; a cell waits for them by itself. */
export type Display = {
  /**
   * Shows any value. An async iterable of record batches, or what `query.execute()` gives, is read and shown as it comes,
   * with the number of rows so far; a query shows its first rows.
   */
  (value: unknown, options?: DisplayValueOptions): Promise<void>;
  /**
   * Shows ready-made forms of one output by MIME type; binary ones as bytes or base64 text.
   * @throws CatalogError InvalidInput (13) naming the form that JSON can't hold
   */
  mime(data: Record<string, unknown>, options?: DisplayOptions): void;
  /** Shows HTML. */
  html(text: string, options?: DisplayOptions): void;
  /** Shows Markdown. */
  markdown(text: string, options?: DisplayOptions): void;
  /** Shows a formula of LaTeX, `display.latex('e^{i\\pi} + 1 = 0')`, with or without its `$$`. */
  latex(text: string, options?: DisplayOptions): void;
  /** Shows a picture given as SVG text. */
  svg(text: string, options?: DisplayOptions): void;
  /** Shows a value as JSON: a tree where the notebook has one, else indented text. */
  json(value: unknown, options?: DisplayOptions): void;
  /** Draws a Vega-Lite chart, or a Vega one that says so in its `$schema`. */
  vegaLite(spec: object, options?: DisplayOptions): void;
  /** Draws a Plotly figure: `{ data, layout }`, or the traces alone. */
  plotly(figure: object, options?: DisplayOptions): void;
  /**
   * Shows a picture: the bytes of a PNG, JPEG, GIF, WebP or SVG file, a Blob, a canvas, SVG text or a `data:` URL.
   * Rejects with a CatalogError InvalidInput (13) for anything else.
   */
  image(source: Uint8Array | ArrayBuffer | Blob | string | object, options?: DisplayOptions): Promise<void>;
  /** Removes what the cell has shown so far; with `wait`, once something new comes. */
  clear(wait?: boolean): void;
};

export type ProgressOptions = {
  /** How many there will be, for an iterable that does not know; without it there is no share and no time left. */
  total?: number | undefined;
  /** Stands in front of the numbers. */
  label?: string | undefined;
  /** Counts the rows of record batches and not the batches; without it, where no `total` is given. */
  rows?: boolean | undefined;
};

/** Shows how far a loop is, how fast, and how long it will take. It changes in place, ten times a second at most. */
export type Progress = {
  /** Loops over an async iterable: `for await (const batch of progress(query)) { … }`. */
  <T>(source: AsyncIterable<T>, options?: ProgressOptions): AsyncIterable<T>;
  /** Loops over an iterable: `for (const x of progress(xs)) { … }`. */
  <T>(source: Iterable<T>, options?: ProgressOptions): Iterable<T>;
};
