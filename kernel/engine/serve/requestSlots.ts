import type { IncomingMessage } from 'node:http';
import { CatalogError } from '#shared/errors.ts';

type SlotLimits = {
  /** Requests that run at the same time. */
  requests: number;
  /** Those of them with the same key. */
  requestsPerKey: number;
};

/**
 * The requests that a server runs at the same time. Only requests with a valid key take a slot, so that other clients
 * can't take slots from them, and no key can take all. A request whose JSON body still arrives has another
 * kind of slot: slow senders do not keep others from running.
 */
export class RequestSlots {
  readonly #running: Slots;
  readonly #reading: Slots;
  readonly #keys = new WeakMap<IncomingMessage, string>();

  constructor(limits: SlotLimits) {
    this.#running = new Slots(limits);
    this.#reading = new Slots(limits);
  }

  /**
   * Takes a slot until `leave`.
   * @throws CatalogError ServiceUnavailable (17) if no slot is free, Throttling (21) if the key has its share
   */
  enter(request: IncomingMessage, key: string): void {
    this.#running.take(request, key);
    this.#keys.set(request, key);
  }

  /** Exchanges the slot while the body is read. @throws as `enter` does */
  startReading(request: IncomingMessage): void {
    const key = this.#keys.get(request);
    if (key === undefined) return;
    this.#running.free(request);
    this.#reading.take(request, key);
  }

  /** Takes a slot to run the request, whose body was read. @throws as `enter` does */
  endReading(request: IncomingMessage): void {
    const key = this.#keys.get(request);
    if (key === undefined) return;
    this.#reading.free(request);
    this.#running.take(request, key);
  }

  leave(request: IncomingMessage): void {
    this.#running.free(request);
    this.#reading.free(request);
  }
}

class Slots {
  readonly #limits: SlotLimits;
  readonly #taken = new Map<IncomingMessage, string>();
  readonly #counts = new Map<string, number>();

  constructor(limits: SlotLimits) {
    this.#limits = limits;
  }

  take(request: IncomingMessage, key: string): void {
    const { requests, requestsPerKey } = this.#limits;
    const count = this.#counts.get(key) ?? 0;
    if (this.#taken.size >= requests)
      throw new CatalogError(
        'ServiceUnavailable',
        'The server has too many requests at the moment.',
        'Try again in a second.',
      );
    if (count >= requestsPerKey)
      throw new CatalogError(
        'Throttling',
        `The key "${key}" has too many requests at the moment.`,
        'Try again in a second, and send fewer requests at the same time.',
      );
    this.#taken.set(request, key);
    this.#counts.set(key, count + 1);
  }

  free(request: IncomingMessage): void {
    const key = this.#taken.get(request);
    if (key === undefined) return;
    this.#taken.delete(request);
    const count = (this.#counts.get(key) ?? 1) - 1;
    if (count === 0) this.#counts.delete(key);
    else this.#counts.set(key, count);
  }
}
