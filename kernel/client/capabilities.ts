import type { CallOptions } from './callOptions.ts';
import type { Operation } from './operations.ts';

/** Whether an operation works here; `unknown` until the server has answered one, and then worth trying. */
export type Capability = 'yes' | 'no' | 'unknown';

/** What a catalog can do. A menu leaves out what is `no`. */
export type Capabilities = Readonly<Record<Operation, Capability>>;

export type CapabilityOptions = CallOptions & {
  /** Operations to find out about, by requests that change nothing; those that can't be asked so stay `unknown`. */
  probe?: readonly Operation[] | undefined;
};
