import type { IncomingMessage } from 'node:http';
import { CatalogError } from '#shared/errors.ts';

type SlotLimits = {
  /** Maximum number of requests that run at the same time. */
  requests: number;
  /** Maximum number of requests with the same key that run at the same time. */
  requestsPerKey: number;
  /** Maximum bytes of the JSON bodies of all requests. The parsed values take up to thirty times as much memory. */
  jsonBytes: number;
  /** Maximum bytes of the JSON bodies of all requests with the same key. */
  jsonBytesPerKey: number;
};

/**
 * The requests that a server runs at the same time. Only requests with a valid key take a slot, so clients without a
 * key can't use up the slots. No key can use all of them if there are several keys. A request whose JSON body is still
 * arriving has a slot of another kind, so that slow senders do not prevent other requests from running.
 */
export class RequestSlots {
  readonly #running: Slots;
  readonly #reading: Slots;
  readonly #bytes: Slots;
  readonly #keys = new WeakMap<IncomingMessage, string>();

  constructor(limits: SlotLimits) {
    const { requests, requestsPerKey, jsonBytes, jsonBytesPerKey } = limits;
    this.#running = new Slots({ most: requests, mostPerKey: requestsPerKey });
    this.#reading = new Slots({ most: requests, mostPerKey: requestsPerKey });
    this.#bytes = new Slots({ most: jsonBytes, mostPerKey: jsonBytesPerKey });
  }

  /**
   * Takes a slot until `leave`.
   * @throws CatalogError ServiceUnavailable (17) if no slot is free, Throttling (21) if the key has its share
   */
  enter(request: IncomingMessage, key: string): void {
    this.#running.take(request, key);
    this.#keys.set(request, key);
  }

  /** Exchanges the slot for one of the other kind while the body is read. @throws as `enter` does */
  startReading(request: IncomingMessage): void {
    const key = this.#keys.get(request);
    if (key === undefined) return;
    this.#running.free(request);
    this.#reading.take(request, key);
  }

  /** Takes a slot to run the request, after its body was read. @throws as `enter` does */
  endReading(request: IncomingMessage): void {
    const key = this.#keys.get(request);
    if (key === undefined) return;
    this.#reading.free(request);
    this.#running.take(request, key);
  }

  /** Counts bytes of a JSON body, until `leave`. @throws as `enter` does */
  receive(request: IncomingMessage, bytes: number): void {
    const key = this.#keys.get(request);
    if (key !== undefined) this.#bytes.take(request, key, bytes);
  }

  leave(request: IncomingMessage): void {
    this.#running.free(request);
    this.#reading.free(request);
    this.#bytes.free(request);
  }
}

/** The amount that all requests together may take, and the amount that the requests of one key may take. */
type Share = { readonly most: number; readonly mostPerKey: number };

/** Shares an amount between requests and their keys. */
class Slots {
  readonly #limits: Share;
  readonly #taken = new Map<IncomingMessage, { key: string; amount: number }>();
  readonly #perKey = new Map<string, number>();
  #all = 0;

  constructor(limits: Share) {
    this.#limits = limits;
  }

  take(request: IncomingMessage, key: string, amount = 1): void {
    const { most, mostPerKey } = this.#limits;
    const ofKey = this.#perKey.get(key) ?? 0;
    if (this.#all + amount > most)
      throw new CatalogError(
        'ServiceUnavailable',
        'The server has too many requests at the moment.',
        'Try again in a second.',
      );
    if (ofKey + amount > mostPerKey)
      throw new CatalogError(
        'Throttling',
        `The key "${key}" has too many requests at the moment.`,
        'Try again in a second, and send fewer or smaller requests at the same time.',
      );
    this.#taken.set(request, { key, amount: (this.#taken.get(request)?.amount ?? 0) + amount });
    this.#perKey.set(key, ofKey + amount);
    this.#all += amount;
  }

  free(request: IncomingMessage): void {
    const taken = this.#taken.get(request);
    if (!taken) return;
    const { key, amount } = taken;
    this.#taken.delete(request);
    this.#all -= amount;
    const left = (this.#perKey.get(key) ?? amount) - amount;
    if (left === 0) this.#perKey.delete(key);
    else this.#perKey.set(key, left);
  }
}
