import type { CellOutput } from '#session/coreMessages.ts';
import { createShow, type Show } from './display.ts';
import { createDisplay } from './displayFunction.ts';
import type { Display, Progress } from './displayTypes.ts';
import { createPlaces } from './places.ts';
import { createProgress } from './progress.ts';
import type { Shown } from './shown.ts';
import type { TranslateStack } from './valueTree.ts';

/** All that a notebook has for showing values, and what the cells need to know of it. */
export type NotebookDisplay = {
  /** What is preloaded, by name. */
  names: { display: Display; progress: Progress };
  show: Show;
  /** A cell with this code begins. */
  begin(code: string): void;
  /** Opens a place for an output of the running cell that changes; each call of what it gives shows there. */
  open(): (shown: Shown) => void;
  /** Says that the running cell has put this value on screen. */
  isShown(value: object): void;
  /** Whether the running cell has shown this value already: it is what a `display` gave, or on screen. */
  isOwn(value: unknown): boolean;
  /** Waits until all that the running cell displays is on screen; rejects with the first failure. */
  settled(): Promise<void>;
};

export type NotebookDisplayParts = {
  /** Sends one output of the cell whose code is running. */
  send: (output: CellOutput) => void;
  /** Puts the cells' own lines into the stack of an error. */
  translate: TranslateStack;
  /** Aborts when the cell whose code is running is interrupted, which ends what it shows as it comes. */
  signal: () => AbortSignal;
};

/** Makes it. */
export function createNotebookDisplay({ send, translate, signal }: NotebookDisplayParts): NotebookDisplay {
  const show = createShow(translate);
  const places = createPlaces(send);
  let pending: Promise<void>[] = [];
  let shownValues = new WeakSet();
  const track = (display: Promise<void>) => {
    // The cell waits for it and fails with it; until then nobody has taken the failure.
    display.catch(() => {});
    pending.push(display);
  };
  const names = {
    display: createDisplay({ places, show, track, signal }),
    progress: createProgress({ open: () => places.open(), signal, now: () => performance.now() }),
  };
  return {
    names,
    show,
    begin(code) {
      places.begin(code);
      pending = [];
      shownValues = new WeakSet();
    },
    open: () => places.open(),
    isShown: (value) => void shownValues.add(value),
    isOwn: (value) =>
      pending.some((each) => each === value) || (typeof value === 'object' && value !== null && shownValues.has(value)),
    async settled() {
      await Promise.all(pending);
    },
  };
}
