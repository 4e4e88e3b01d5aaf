import { randomUUID } from 'node:crypto';

/** A cell that runs, and its execution count. */
type Running = { readonly cell: CellRequest; readonly count: number };

/** Where cells run one at a time, in the order in which they came. */
export type Shell = { readonly waiting: CellRequest[]; running: Running | undefined };

/**
 * The main shell of a kernel and its subshells, which Jupyter's clients ask for (Jupyter Enhancement Proposal 91): while a
 * cell of one shell awaits, cells of the others run, in the same thread and with the same variables.
 */
export class Shells {
  readonly #main: Shell = emptyShell();
  readonly #subshells = new Map<string, Shell>();
  /** Those that were closed over a cell that runs. */
  readonly #closed = new Set<Shell>();

  /** The ids of the subshells that are open. */
  get ids(): string[] {
    return [...this.#subshells.keys()];
  }

  /** Opens a subshell; gives its id. */
  open(): string {
    const id = randomUUID();
    this.#subshells.set(id, emptyShell());
    return id;
  }

  /** Takes a subshell away; a cell that runs there comes to its end. `undefined` when there is none of that id. */
  close(id: string): Shell | undefined {
    const shell = this.#subshells.get(id);
    this.#subshells.delete(id);
    if (shell?.running) this.#closed.add(shell);
    return shell;
  }

  /** The main shell when no id is given. */
  get(id?: string): Shell | undefined {
    return id === undefined ? this.#main : this.#subshells.get(id);
  }

  all(): Shell[] {
    return [this.#main, ...this.#subshells.values(), ...this.#closed];
  }

  /** The cells that run, that of the main shell first. */
  running(): Running[] {
    return this.all().flatMap(({ running }) => running ?? []);
  }

  /** A cell that runs, with its shell. */
  find(id: string): { shell: Shell; running: Running } | undefined {
    for (const shell of this.all()) if (shell.running?.cell.id === id) return { shell, running: shell.running };
    return undefined;
  }

  /** Ends the turn of a cell: gives it with its shell, `undefined` when it does not run. */
  end(id: string): { shell: Shell; running: Running } | undefined {
    const found = this.find(id);
    if (!found) return undefined;
    found.shell.running = undefined;
    this.#closed.delete(found.shell);
    return found;
  }
}

const emptyShell = (): Shell => ({ waiting: [], running: undefined });

export type CellRequest = {
  id: string;
  code: string;
  silent: boolean;
  storeHistory: boolean;
  stopOnError: boolean;
  /** Whether there is a person who can be asked for input. */
  allowInput: boolean;
  expressions: Record<string, string>;
  /** The front's name for the cell of the notebook; the same when it is run again. */
  cell?: string;
  /** The subshell that it runs in, one of `subshells`; the main shell when not given. */
  subshell?: string;
};
