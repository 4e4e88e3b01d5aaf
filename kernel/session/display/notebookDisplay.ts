import type { CellOutput } from '#session/threads/coreMessages.ts';
import { createShow, type RenderValue } from './display.ts';
import { createDisplay } from './displayFunction.ts';
import type { Display, Progress } from './displayTypes.ts';
import { createDisplaySlots } from './displaySlots.ts';
import { createProgress } from './progress.ts';
import type { RenderedOutput } from './mimeBundle.ts';
import type { TranslateStack } from './valueTree.ts';

export type NotebookDisplay = {
  names: { display: Display; progress: Progress };
  show: RenderValue;
  /** Notes that the current cell starts, with this code. */
  begin(code: string): void;
  /** Opens an output of the current cell that can change; each call of the returned function replaces its content. */
  open(): (shown: RenderedOutput) => void;
  /** Records that the current cell has shown this value. */
  isShown(value: object): void;
  /** Whether the current cell has already shown this value, or `display` returned it. */
  isOwn(value: unknown): boolean;
  /** Waits until everything that the current cell displays is on screen; rejects with the first failure. */
  settled(): Promise<void>;
};

type NotebookDisplayDeps = {
  send: (output: CellOutput) => void;
  /** Maps the frames of an error's stack to lines of cells. */
  translate: TranslateStack;
  /** Aborts when the current cell is interrupted. Then the reading of streams stops. */
  signal: () => AbortSignal;
  /** An object that identifies the run of the current cell; undefined outside of all cells. */
  cell: () => object | undefined;
};

/** The display state of one run of a cell. */
type Turn = {
  code: string | undefined;
  pending: Set<Promise<void>>;
  /** Promises that `display` returned, and values that were shown. */
  own: WeakSet<object>;
};

const newTurn = (code?: string): Turn => ({ code, pending: new Set(), own: new WeakSet() });

export function createNotebookDisplay({ send, translate, signal, cell }: NotebookDisplayDeps): NotebookDisplay {
  const show = createShow(translate);
  const turns = new WeakMap<object, Turn>();
  const outside = newTurn();
  const turn = (): Turn => turns.get(cell() ?? outside) ?? outside;
  const places = createDisplaySlots(send, () => turn().code);
  const track = (display: Promise<void>) => {
    const { pending, own } = turn();
    own.add(display);
    pending.add(display);
    display.then(
      () => pending.delete(display),
      // The cell awaits this promise later and fails with its error. Without this handler Node.js would report an
      // unhandled rejection now.
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
