import { randomUUID } from 'node:crypto';
import type { CommMessage } from './commMessages.ts';
import type { Comm, CommEvent, Comms } from './commTypes.ts';
import { callHandler, OpenComm, payloadOf, type CommSurroundings } from './openComm.ts';

type Target = { cell: string | null; handle: (comm: Comm, opened: CommEvent) => unknown };

/** The comms of a notebook on the main thread: handlers are functions of cells. They outlive the cells that made them. */
export class NotebookComms {
  readonly #around: CommSurroundings;
  readonly #open = new Map<string, OpenComm>();
  readonly #targets = new Map<string, Target>();

  constructor(around: CommSurroundings) {
    this.#around = around;
  }

  /** What is preloaded. */
  functions(): Comms {
    return {
      open: (target, data, options) => {
        const commId = randomUUID();
        this.#around.send({ kind: 'open', commId, target, ...payloadOf(data, options) });
        return this.#add(commId, target).comm;
      },
      register: (target, handle) => {
        const entry: Target = { cell: this.#around.cell(), handle };
        this.#targets.set(target, entry);
        return () => {
          if (this.#targets.get(target) === entry) this.#targets.delete(target);
        };
      },
    };
  }

  /** Takes a message of the front. */
  receive(message: CommMessage): void {
    if (message.kind !== 'open') return this.#open.get(message.commId)?.receive(message);
    const { commId, target, data, metadata, buffers } = message;
    const entry = this.#targets.get(target);
    if (!entry) return this.#around.send({ kind: 'close', commId, data: {}, metadata: {}, buffers: [] });
    const { comm } = this.#add(commId, target);
    callHandler(this.#around, entry.cell, () => entry.handle(comm, { data, metadata, buffers }));
  }

  #add(commId: string, target: string): OpenComm {
    const made = new OpenComm(commId, target, this.#around, () => this.#open.delete(commId));
    this.#open.set(commId, made);
    return made;
  }
}
