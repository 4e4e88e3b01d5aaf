import { createHash } from 'node:crypto';
import { isString, listOf } from '#shared/shape.ts';
import type { Connection } from '../explorer/node.ts';
import type { State } from '../host/state.ts';
import { targetOf } from '../panels/savedViews.ts';

/** Maximum number of remembered contents. The oldest are forgotten first. */
const maxApproved = 500;

const isStrings = listOf(isString);

/** The contents of view files that the user wants to see without being asked, as hashes. */
export class ViewApprovals {
  readonly #state: Pick<State, 'approvedViews' | 'setApprovedViews'>;

  constructor(state: Pick<State, 'approvedViews' | 'setApprovedViews'>) {
    this.#state = state;
  }

  /** @param connection what the file means on this machine: elsewhere, the same content is asked about again */
  isApproved(text: string, connection: Connection): boolean {
    return this.#all().includes(hashOf(text, connection));
  }

  async approve(text: string, connection: Connection): Promise<void> {
    const hash = hashOf(text, connection);
    const others = this.#all().filter((one) => one !== hash);
    await this.#state.setApprovedViews([...others, hash].slice(-maxApproved));
  }

  #all(): readonly string[] {
    const all = this.#state.approvedViews();
    return isStrings(all) ? all : [];
  }
}

const hashOf = (text: string, connection: Connection): string =>
  createHash('sha256')
    .update(JSON.stringify([text, targetOf(connection)]))
    .digest('hex');
