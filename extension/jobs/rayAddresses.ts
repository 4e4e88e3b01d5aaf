import type { RayPlace } from '#shared/jobs/backfill.ts';
import type { SecretOwner, Secrets } from '../host/secrets.ts';
import type { State } from '../host/state.ts';

type RayAddress = Extract<RayPlace, { address: string }>;

/** Maximum number of stored addresses. Enough for users with a few clusters. */
const most = 10;

/** Ray clusters that the user has connected to: addresses in VS Code's state, tokens in its secret storage. */
export class RayConnections {
  readonly #state: Pick<State, 'rayAddresses' | 'setRayAddresses'>;
  readonly #secrets: Pick<Secrets, 'get' | 'set'>;

  constructor(state: Pick<State, 'rayAddresses' | 'setRayAddresses'>, secrets: Pick<Secrets, 'get' | 'set'>) {
    this.#state = state;
    this.#secrets = secrets;
  }

  /** Returns the addresses, last used first. */
  list(): readonly string[] {
    const kept = this.#state.rayAddresses();
    return Array.isArray(kept) ? kept.filter((one) => typeof one === 'string') : [];
  }

  async add(address: string, token: string): Promise<void> {
    await this.#secrets.set(ownerOf(address), token === '' ? {} : { token });
    await this.#state.setRayAddresses([address, ...this.list().filter((one) => one !== address)].slice(0, most));
  }

  async remove(address: string): Promise<void> {
    await this.#secrets.set(ownerOf(address), {});
    await this.#state.setRayAddresses(this.list().filter((one) => one !== address));
  }

  /** Adds the token stored for the address. */
  async withToken(place: RayAddress): Promise<RayAddress> {
    if (place.token !== undefined) return place;
    const { token } = await this.#secrets.get(ownerOf(place.address));
    return token === undefined ? place : { ...place, token };
  }
}

// The address is part of the owner, so that a token is never sent elsewhere.
const ownerOf = (address: string): SecretOwner => ({ of: 'ray', name: '', uri: address });
