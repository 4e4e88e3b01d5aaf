import type { Step } from '../cells.ts';

/** Cells that a person runs one after the other, with what they expect of each. */
export type Sequence = {
  /** A sentence that follows the theme's name. */
  name: string;
  steps: readonly Step[];
};

/** Sequences about one thing. They share a kernel, as cells of one long notebook do; `files` lie beside it. */
export type Theme = { name: string; files?: Readonly<Record<string, string>>; sequences: readonly Sequence[] };

/** Cells that end otherwise than a person expects. The last step says what is expected, those before it hold. */
export type KnownDifference = Sequence & { reason: string };
