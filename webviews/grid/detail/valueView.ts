/** What shows a value below the header of the pane. */
export type ValueView = {
  readonly element: HTMLElement;
  /** What is known about the value: its size, its number of items. May be completed later, see `onFacts`. */
  readonly facts: readonly string[];
  /** Calls a function when more is known. */
  readonly onFacts?: (listener: (facts: readonly string[]) => void) => void;
  /** Takes the keyboard focus. */
  readonly focusTarget: HTMLElement;
  readonly close?: () => void;
};
