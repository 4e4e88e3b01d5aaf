import { awsPlaceOf } from '#cluster/aws/awsNames.ts';
import { awsPrograms } from '#cluster/aws/awsPrograms.ts';
import { ClusterError, isClusterError } from '#cluster/errors.ts';
import { chooseContext } from '#cluster/kubeconfig/chooseContext.ts';
import { pluginProgram } from '#cluster/kubeconfig/execPlugin.ts';
import { loadKubeconfig } from '#cluster/kubeconfig/loadKubeconfig.ts';
import { targetOfEntry } from '#cluster/kubeconfig/clusterEntry.ts';
import { signInOf, tokenFileStep } from '#cluster/kubeconfig/userEntry.ts';
import type { ClusterProfile } from '#cluster/profile.ts';
import { SecretRedactor } from '#cluster/secretTexts.ts';
import { isAbort } from '#shared/errors.ts';
import { isTrustedStep, type SignInStep, stepNotTrusted, stepQuestion, trustStep } from './programTrust.ts';

/**
 * Lists the programs and token files of a profile that need the user's consent.
 * The list is empty if the profile was not found by searching. The connection reads the files again and checks them
 * then, so that it refuses a file that has changed since.
 */
async function untrustedSteps(profile: ClusterProfile): Promise<readonly SignInStep[]> {
  const { foundIn } = profile.auth;
  if (!foundIn) return [];
  const aws = awsPlaceOf(profile);
  const steps = [...(await kubeconfigSteps(profile.auth)), ...(aws ? await awsPrograms(foundIn, aws.profile) : [])];
  return steps.filter((step) => !isTrustedStep(step));
}

async function kubeconfigSteps(auth: ClusterProfile['auth']): Promise<readonly SignInStep[]> {
  if (auth.configMethod !== 'LOCAL' || !auth.foundIn) return [];
  try {
    const config = await loadKubeconfig({ kubeconfig: auth.kubeconfig });
    const { user, cluster } = chooseContext(config, auth.context);
    const signIn = await signInOf(user, new SecretRedactor());
    if ('plugin' in signIn) return [pluginProgram(auth.foundIn, signIn.plugin, config)];
    if (signIn.tokenFile === undefined) return [];
    const { server } = await targetOfEntry(cluster);
    return [tokenFileStep(auth.foundIn, { tokenFile: signIn.tokenFile, server }, config)];
  } catch (error) {
    // The error is ignored here, because the connection reports it.
    if (isClusterError(error)) return [];
    throw error;
  }
}

/** Number of characters that a user can be expected to review. */
const longestQuestion = 20_000;

/**
 * Asks the user about each program that a found profile runs, and about each token file that it sends. Skips what is
 * already trusted on this machine. Stores the user's consent.
 * @param ask rejects if the user can't be asked
 * @throws ClusterError ProgramNotTrusted if the user declines or can't be asked, or if the question is too long; an
 * AbortError if the question is canceled
 */
export async function confirmPrograms(
  profile: ClusterProfile,
  ask: (question: string) => Promise<boolean>,
): Promise<void> {
  for (const step of await untrustedSteps(profile)) {
    const question = stepQuestion(step);
    if (question.length > longestQuestion) throw stepNotTrusted(step);
    // One question at a time.
    // oxlint-disable-next-line no-await-in-loop
    const isAgreed = await ask(question).catch((cause: unknown) => {
      throw isAbort(cause) ? cause : stepNotTrusted(step, cause);
    });
    if (!isAgreed) {
      const { profile: name, settingsFile } = step.origin;
      const [what, done] = 'command' in step ? ['program', 'run'] : ['token file', 'sent'];
      throw new ClusterError(
        'ProgramNotTrusted',
        `The ${what} of the cluster profile "${name}" of ${settingsFile} was not accepted.`,
        `Nothing was ${done}.`,
      );
    }
    trustStep(step);
  }
}

/** Trusts all programs and token files of a profile on this machine from now on, as the user requested by an option. */
export async function trustPrograms(profile: ClusterProfile): Promise<void> {
  for (const step of await untrustedSteps(profile)) trustStep(step);
}
