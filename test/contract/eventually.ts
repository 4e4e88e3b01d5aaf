import { setTimeout as pause } from 'node:timers/promises';

/** Asserts until it holds, for what follows a little later; at most fifteen seconds, on a machine with much to do. */
export async function eventually(check: () => Promise<void> | void, seconds = 15): Promise<void> {
  const deadline = Date.now() + seconds * 1000;
  for (;;) {
    try {
      return await check();
    } catch (error) {
      if (Date.now() > deadline) throw error;
      await pause(50);
    }
  }
}
