// The types of `display` and `progress`. The type checker reads the declarations of this file for every notebook, so
// the file imports nothing.

export type DisplayOptions = {
  /** Identifies the output: a later call with the same id replaces it. */
  id?: string | undefined;
};

export type DisplayValueOptions = DisplayOptions & {
  /** Maximum number of rows of a table (default: 1,000) or of entries of a collection (default: 500). */
  limit?: number | undefined;
  /**
   * If a table is too large for an output, the output leaves out the images and other large binary cells of later
   * rows. With `whole`, it has fewer rows instead.
   */
  whole?: boolean | undefined;
};

export type ChartOptions = DisplayOptions & {
  /** Maximum number of rows of a table or a query (default: 5,000). */
  limit?: number | undefined;
};

/** `display` of a notebook. Its promises resolve once the value is on screen; a cell waits for them automatically. */
export type Display = {
  /**
   * Shows any value. An async iterable of record batches, or the result of `query.execute()`, is read and shown
   * incrementally, with the number of rows so far. For a query only the first rows are shown.
   */
  (value: unknown, options?: DisplayValueOptions): Promise<void>;
  /**
   * Shows the given forms of one output by MIME type. Give binary forms as bytes or base64.
   * @throws CatalogError InvalidInput (13) naming the form that JSON can't hold
   */
  mime(data: Record<string, unknown>, options?: DisplayOptions): void;
  /** Shows HTML. */
  html(text: string, options?: DisplayOptions): void;
  /** Shows Markdown. */
  markdown(text: string, options?: DisplayOptions): void;
  /** Shows a LaTeX formula, `display.latex('e^{i\\pi} + 1 = 0')`, with or without `$$` around it. */
  latex(text: string, options?: DisplayOptions): void;
  /** Shows an image given as SVG text. */
  svg(text: string, options?: DisplayOptions): void;
  /** Shows a value as JSON: a tree if the notebook supports it, else indented text. */
  json(value: unknown, options?: DisplayOptions): void;
  /**
   * Draws a Vega-Lite chart, or a Vega chart if its `$schema` names Vega. `values` of its data may be a table, a query,
   * the result of `sql`, record batches or rows. The chart draws the first 5,000 rows of a table or a query, or `limit`.
   */
  vegaLite(spec: object, options?: ChartOptions): Promise<void>;
  /** Draws a Plotly figure: `{ data, layout }`, or a list of traces. Their data may be columns of tables. */
  plotly(figure: object, options?: ChartOptions): Promise<void>;
  /**
   * Shows an image: the bytes of a PNG, JPEG, GIF, WebP or SVG file, a Blob, a canvas, SVG text or a `data:` URL.
   * Rejects with a CatalogError InvalidInput (13) for anything else.
   */
  image(source: Uint8Array | ArrayBuffer | Blob | string | object, options?: DisplayOptions): Promise<void>;
  /** Removes the cell's output so far; with `wait`, only when new output arrives. */
  clear(wait?: boolean): void;
};

export type ProgressOptions = {
  /**
   * Number of items, for an iterable without a length. If the number is unknown, no percentage and no remaining time
   * are shown.
   */
  total?: number | undefined;
  /** Text in front of the numbers. */
  label?: string | undefined;
  /** Counts the rows of record batches instead of the batches. Default: only if the total is unknown. */
  rows?: boolean | undefined;
};

/** Shows the progress, speed and remaining time of a loop. The output updates in place, at most ten times a second. */
export type Progress = {
  /** Loops over an async iterable: `for await (const batch of progress(query)) { … }`. */
  <T>(source: AsyncIterable<T>, options?: ProgressOptions): AsyncIterable<T>;
  /** Loops over an iterable: `for (const x of progress(xs)) { … }`. */
  <T>(source: Iterable<T>, options?: ProgressOptions): Iterable<T>;
};
