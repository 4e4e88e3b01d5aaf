import { awsPlaceOf } from '#cluster/aws/awsNames.ts';
import { awsPrograms } from '#cluster/aws/awsPrograms.ts';
import { ClusterError, isClusterError } from '#cluster/errors.ts';
import { chooseContext } from '#cluster/kubeconfig/chooseContext.ts';
import { pluginProgram } from '#cluster/kubeconfig/execPlugin.ts';
import { loadKubeconfig } from '#cluster/kubeconfig/loadKubeconfig.ts';
import { signInOf } from '#cluster/kubeconfig/userEntry.ts';
import type { ClusterProfile } from '#cluster/profile.ts';
import { SecretRedactor } from '#cluster/secretTexts.ts';
import { isAbort } from '#shared/errors.ts';
import {
  isTrustedProgram,
  programNotTrusted,
  programQuestion,
  type SignInProgram,
  trustProgram,
} from './programTrust.ts';

/**
 * Lists the programs that a profile needs the user's consent for: none unless it was found by searching.
 * The connection checks again what it has read itself, so a later change of a file is refused there.
 */
async function untrustedPrograms(profile: ClusterProfile): Promise<readonly SignInProgram[]> {
  const { foundIn } = profile.auth;
  if (!foundIn) return [];
  const aws = awsPlaceOf(profile);
  const programs = [
    ...(await kubeconfigPrograms(profile.auth)),
    ...(aws ? await awsPrograms(foundIn, aws.profile) : []),
  ];
  return programs.filter((program) => !isTrustedProgram(program));
}

async function kubeconfigPrograms(auth: ClusterProfile['auth']): Promise<readonly SignInProgram[]> {
  if (auth.configMethod !== 'LOCAL' || !auth.foundIn) return [];
  try {
    const config = await loadKubeconfig({ kubeconfig: auth.kubeconfig });
    const signIn = await signInOf(chooseContext(config, auth.context).user, new SecretRedactor());
    return 'plugin' in signIn ? [pluginProgram(auth.foundIn, signIn.plugin, config)] : [];
  } catch (error) {
    // The connection reports it.
    if (isClusterError(error)) return [];
    throw error;
  }
}

/** Number of characters that a user can be expected to review. */
const longestQuestion = 20_000;

/**
 * Asks for each program that a found profile runs and that is not trusted on this machine, and remembers a yes.
 * @param ask rejects if the user can't be asked
 * @throws ClusterError ProgramNotTrusted if the user declines or can't be asked; an AbortError if the question is
 * cancelled
 */
export async function confirmPrograms(
  profile: ClusterProfile,
  ask: (question: string) => Promise<boolean>,
): Promise<void> {
  for (const program of await untrustedPrograms(profile)) {
    const question = programQuestion(program);
    if (question.length > longestQuestion) throw programNotTrusted(program);
    // One question at a time.
    // oxlint-disable-next-line no-await-in-loop
    const isAgreed = await ask(question).catch((cause: unknown) => {
      throw isAbort(cause) ? cause : programNotTrusted(program, cause);
    });
    if (!isAgreed) {
      const { profile: name, settingsFile } = program.origin;
      throw new ClusterError(
        'ProgramNotTrusted',
        `The program of the cluster profile "${name}" of ${settingsFile} was not accepted.`,
        'Nothing was run.',
      );
    }
    trustProgram(program);
  }
}

/** Trusts all programs of a profile on this machine from now on, as the user asked for by an option. */
export async function trustPrograms(profile: ClusterProfile): Promise<void> {
  for (const program of await untrustedPrograms(profile)) trustProgram(program);
}
