import { messageOf } from '#shared/errors.ts';
import { shownTimeZone } from '../grid/timeZone.ts';
import type * as tableParts from './tableParts.ts';

/** What the bundle has. */
type TableParts = typeof tableParts;

/** Loads the parts of the panel that most tables never show, when the first of them is needed: a table appears sooner. */
export class LazyParts {
  /** Says why the bundle can't be loaded. */
  readonly #fail: (message: string) => void;
  #loading: Promise<TableParts> | undefined;
  #parts: TableParts | undefined;

  constructor(fail: (message: string) => void) {
    this.#fail = fail;
  }

  /** Runs something with the bundle: at once if it is loaded. */
  use(run: (parts: TableParts) => void): void {
    if (this.#parts) {
      // The bundle has a copy of the setting.
      this.#parts.setTimeZone(shownTimeZone());
      return run(this.#parts);
    }
    void this.#load().then(
      () => this.use(run),
      (error: unknown) => this.#fail(`Can't load a part of the panel: ${messageOf(error)}. Reload the window.`),
    );
  }

  async #load(): Promise<void> {
    try {
      this.#loading ??= import('./tableParts.ts');
      this.#parts = await this.#loading;
      this.#parts.adoptStyles(document);
    } catch (error) {
      this.#loading = undefined;
      throw error;
    }
  }
}
