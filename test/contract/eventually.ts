import { setTimeout as pause } from 'node:timers/promises';

/** Repeats an assertion until it passes, at most for fifteen seconds, so that it works on a busy machine. */
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
