import type { CellOutput } from '#session/threads/coreMessages.ts';
import { createShow, type Show } from './display.ts';
import { createDisplay } from './displayFunction.ts';
import type { Display, Progress } from './displayTypes.ts';
import { createPlaces } from './places.ts';
import { createProgress } from './progress.ts';
import type { Shown } from './mimeBundle.ts';
import type { TranslateStack } from './valueTree.ts';

/** All that a notebook has for showing values, and what the cells need to know of it. */
export type NotebookDisplay = {
  /** What is preloaded, by name. */
  names: { display: Display; progress: Progress };
  show: Show;
  /** The cell whose code is running begins, with this code. */
  begin(code: string): void;
  /** Opens a place for an output of it that changes; each call of what it gives shows there. */
  open(): (shown: Shown) => void;
  /** Says that the cell whose code is running has put this value on screen. */
  isShown(value: object): void;
  /** Whether it has shown this value already: it is what a `display` gave, or on screen. */
  isOwn(value: unknown): boolean;
  /** Waits until all that it displays is on screen; rejects with the first failure. */
  settled(): Promise<void>;
};

type NotebookDisplayParts = {
  /** Sends one output of the cell whose code is running. */
  send: (output: CellOutput) => void;
  /** Puts the cells' own lines into the stack of an error. */
  translate: TranslateStack;
  /** Aborts when the cell whose code is running is interrupted, which ends what it shows as it comes. */
  signal: () => AbortSignal;
  /** What stands for the run of the cell whose code is running; undefined outside of all. */
  cell: () => object | undefined;
};

/** What one run of a cell has displayed. */
type Turn = {
  code: string | undefined;
  /** What is not on screen yet, or failed. */
  pending: Set<Promise<void>>;
  /** What `display` gave, and values that were put on screen. */
  own: WeakSet<object>;
};

const newTurn = (code?: string): Turn => ({ code, pending: new Set(), own: new WeakSet() });

/** Makes it. */
export function createNotebookDisplay({ send, translate, signal, cell }: NotebookDisplayParts): NotebookDisplay {
  const show = createShow(translate);
  const turns = new WeakMap<object, Turn>();
  const outside = newTurn();
  const turn = (): Turn => turns.get(cell() ?? outside) ?? outside;
  const places = createPlaces(send, () => turn().code);
  const track = (display: Promise<void>) => {
    const { pending, own } = turn();
    own.add(display);
    pending.add(display);
    display.then(
      () => pending.delete(display),
      // The cell waits for it and fails with it; until then nobody has taken the failure.
      () => {},
    );
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
      turns.set(cell() ?? outside, newTurn(code));
    },
    open: () => places.open(),
    isShown: (value) => void turn().own.add(value),
    isOwn: (value) => typeof value === 'object' && value !== null && turn().own.has(value),
    async settled() {
      await Promise.all(turn().pending);
    },
  };
}
