import type { Step } from '../cells.ts';

/** Cells that a user runs one after another, with the expected results. */
export type Sequence = {
  /** A phrase that follows the theme's name. */
  name: string;
  steps: readonly Step[];
};

/** Sequences about one subject. They share a kernel, like cells of one long notebook; `files` are in its folder. */
export type Theme = { name: string; files?: Readonly<Record<string, string>>; sequences: readonly Sequence[] };

/**
 * Cells whose results differ from a user's expectation. The last step has the expected result; the earlier ones pass.
 */
export type KnownDifference = Sequence & { reason: string };
