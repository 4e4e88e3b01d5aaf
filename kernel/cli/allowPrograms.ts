import type { ClusterProfile } from '#cluster/profile.ts';
import { askTerminal, canAsk } from './terminal.ts';

/**
 * Asks whether the programs of a profile may run, if the profile was found by searching from the working folder
 * upwards.
 * @param isTrusted whether the user has allowed them by --trust
 * @throws ClusterError ProgramNotTrusted if the user declines, or if there is no terminal to ask in
 */
export async function allowPrograms(profile: ClusterProfile, isTrusted: boolean, signal: AbortSignal): Promise<void> {
  const { confirmPrograms, trustPrograms } = await import('#cluster/entry.ts');
  if (isTrusted) return trustPrograms(profile);
  return confirmPrograms(profile, askInTerminal(signal));
}

/** Returns a function that asks in the terminal, and rejects if there is no terminal. */
export const askInTerminal =
  (signal: AbortSignal) =>
  async (question: string): Promise<boolean> => {
    if (!canAsk()) throw new Error('There is no terminal to prompt in.');
    return askTerminal(question, signal);
  };
