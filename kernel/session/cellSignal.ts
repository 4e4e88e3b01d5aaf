// What a notebook sees of interrupts. The declarations of this file are part of what cells are checked against, so it
// needs nothing else.

/** The signal of the cell whose code calls it; it aborts when that cell is interrupted. */
export type CellSignal = () => AbortSignal;
