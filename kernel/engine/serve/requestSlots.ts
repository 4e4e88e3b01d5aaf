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
  readonly #limits: { readonly [K in Kind]: Share };
  readonly #all = nothing();
  /** What the requests of each key have taken together. A key keeps its entry after its last request. */
  readonly #ofKeys = new Map<string, Taken>();
  // A map of the running requests would be copied after every few changes. Old copies keep the requests in memory until
  // the next full garbage collection, which makes each small collection take three times as long.
  readonly #requests = new WeakMap<IncomingMessage, Entered>();

  constructor(limits: SlotLimits) {
    const { requests, requestsPerKey, jsonBytes, jsonBytesPerKey } = limits;
    const slots = { most: requests, mostPerKey: requestsPerKey };
    this.#limits = { running: slots, reading: slots, bytes: { most: jsonBytes, mostPerKey: jsonBytesPerKey } };
  }

  /**
   * Takes a slot until `leave`.
   * @throws CatalogError ServiceUnavailable (17) if no slot is free, Throttling (21) if the key has its share
   */
  enter(request: IncomingMessage, key: string): void {
    const ofKey = this.#ofKeys.get(key) ?? nothing();
    this.#ofKeys.set(key, ofKey);
    this.#requests.set(request, { key, ofKey, taken: nothing() });
    this.#take(request, 'running', 1);
  }

  /** Exchanges the slot for one of the other kind while the body is read. @throws as `enter` does */
  startReading(request: IncomingMessage): void {
    this.#free(request, 'running');
    this.#take(request, 'reading', 1);
  }

  /** Takes a slot to run the request, after its body was read. @throws as `enter` does */
  endReading(request: IncomingMessage): void {
    this.#free(request, 'reading');
    this.#take(request, 'running', 1);
  }

  /** Counts bytes of a JSON body, until `leave`. @throws as `enter` does */
  receive(request: IncomingMessage, bytes: number): void {
    this.#take(request, 'bytes', bytes);
  }

  leave(request: IncomingMessage): void {
    for (const kind of kinds) this.#free(request, kind);
  }

  #take(request: IncomingMessage, kind: Kind, amount: number): void {
    const entered = this.#requests.get(request);
    if (!entered) return;
    const { key, ofKey, taken } = entered;
    const { most, mostPerKey } = this.#limits[kind];
    if (this.#all[kind] + amount > most)
      throw new CatalogError(
        'ServiceUnavailable',
        'The server has too many requests at the moment.',
        'Try again in a second.',
      );
    if (ofKey[kind] + amount > mostPerKey)
      throw new CatalogError(
        'Throttling',
        `The key "${key}" has too many requests at the moment.`,
        'Try again in a second, and send fewer or smaller requests at the same time.',
      );
    for (const sum of [this.#all, ofKey, taken]) sum[kind] += amount;
  }

  #free(request: IncomingMessage, kind: Kind): void {
    const entered = this.#requests.get(request);
    if (!entered) return;
    const { ofKey, taken } = entered;
    const amount = taken[kind];
    for (const sum of [this.#all, ofKey, taken]) sum[kind] -= amount;
  }
}

/** The slots of both kinds and the bytes that a request has taken, or several requests together. */
type Taken = { running: number; reading: number; bytes: number };
type Kind = keyof Taken;

/** A request with a slot. `ofKey` is what all requests of its key have taken, `taken` what this one has. */
type Entered = { readonly key: string; readonly ofKey: Taken; readonly taken: Taken };

const kinds = ['running', 'reading', 'bytes'] as const;
const nothing = (): Taken => ({ running: 0, reading: 0, bytes: 0 });

/** The amount that all requests together may take, and the amount that the requests of one key may take. */
type Share = { readonly most: number; readonly mostPerKey: number };
