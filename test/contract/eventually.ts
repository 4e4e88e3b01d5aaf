import { setTimeout as pause } from 'node:timers/promises';

/** Asserts until it holds, for what follows a little later; at most fifteen seconds, on a machine with much to do. */
export async function eventually(check: () => Promise<void> | void): Promise<void> {
  const deadline = Date.now() + 15_000;
  for (;;) {
    try {
      return await check();
    } catch (error) {
      if (Date.now() > deadline) throw error;
      await pause(50);
    }
  }
}
