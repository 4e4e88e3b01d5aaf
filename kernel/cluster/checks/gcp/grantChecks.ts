import type { Check } from '#cluster/check.ts';
import { isClusterError } from '#cluster/errors.ts';
import { fail, pass, skip, warn } from '#cluster/checkResults.ts';
import { createAccount, createBucket, grantBucket, grantWorkloadUser } from '#cluster/gcp/gcloud.ts';
import { bucketPermissions } from '#cluster/gcp/gcpReads.ts';
import { bucketOf, gkePlace, notOnGoogleCloud, noGoogleBucket, workloadMember } from '#cluster/gcp/gkeTarget.ts';
import { type Binding, bindingsOf } from '#cluster/gcp/replies.ts';
import type { Evidence, Finding } from '#cluster/result.ts';

const noAccount =
  'The Google service account is not known: the profile has no gcp.serviceAccount, and the annotation is missing.';

const seen = (asked: string, found: readonly Binding[], member: string): Evidence => ({
  asked,
  saw:
    found.length === 0
      ? `no binding for ${member}`
      : found.map(({ role, condition }) => `${role} for ${member}${condition ? ` if ${condition}` : ''}`).join(', '),
});

/** Roles with iam.serviceAccounts.getAccessToken for workloads. */
const userRoles = ['roles/iam.workloadIdentityUser'] as const;

const workloadUser: Check = {
  id: 'gcp-wi-user',
  category: 'gcp',
  title: 'Account may act as the Google account',
  severity: 'error',
  needs: ['gcp-adc'],
  limit: 20_000,
  skip: notOnGoogleCloud,
  run: async ({ gcp, profile }) => {
    const email = await gcp.meantAccount();
    if (email === undefined) return skip(noAccount);
    const gke = gkePlace(profile);
    const member = workloadMember(profile, gke);
    const fix = grantWorkloadUser(profile, gke, email);
    const policy = await orMissing(() => gcp.accountPolicy(email));
    if (policy === undefined)
      return fail(`There is no Google service account ${email}.`, { fix: createAccount(email) });
    const found = bindingsOf(policy.value, [member], userRoles);
    const evidence = seen(policy.asked, found, member);
    if (found.some(({ condition }) => condition === undefined)) return pass(`${member} may act as ${email}.`, evidence);
    // A missing grant can be the reason of a refusal only if the federated token was issued.
    const isTried = (await outcomeOf(gcp.federatedToken())) !== undefined;
    const proven = isTried ? await outcomeOf(gcp.accountToken(email)) : undefined;
    return inheritedOr(found, evidence, {
      isTried,
      isProven: proven !== undefined,
      pass: `${member} may act as ${email} through a grant on the project or above it.`,
      missing: `${member} may not act as ${email}: its policy has no binding of roles/iam.workloadIdentityUser for that member.`,
      fix,
    });
  },
};

/** Roles with all of `bucketPermissions`. */
const objectRoles = ['roles/storage.objectAdmin', 'roles/storage.objectUser', 'roles/storage.admin'] as const;

const bucketRole: Check = {
  id: 'gcp-bucket-role',
  category: 'gcp',
  title: 'Google account may use the bucket',
  severity: 'error',
  needs: ['gcp-adc', 'bucket-uri'],
  limit: 20_000,
  skip: noGoogleBucket,
  run: async ({ gcp, profile }) => {
    const email = await gcp.meantAccount();
    if (email === undefined) return skip(noAccount);
    const bucket = bucketOf(profile);
    const member = `serviceAccount:${email}`;
    const policy = await orMissing(() => gcp.bucketPolicy());
    if (policy === undefined)
      return fail(`There is no bucket gs://${bucket}.`, { fix: createBucket(profile, gkePlace(profile)) });
    const found = bindingsOf(policy.value, [member], objectRoles);
    const evidence = seen(policy.asked, found, member);
    const role = found.find(({ condition }) => condition === undefined)?.role;
    if (role !== undefined) return pass(`${email} has ${role} on gs://${bucket}.`, evidence);
    const isTried = (await outcomeOf(gcp.accountToken(email))) !== undefined;
    const proven = isTried ? await outcomeOf(gcp.permissionsOf(email)) : undefined;
    return inheritedOr(found, evidence, {
      isTried,
      isProven: bucketPermissions.every((permission) => proven?.value.includes(permission)),
      pass: `${email} may read, write, list and delete in gs://${bucket} through a grant on the project or above it, or through another role.`,
      missing: `${email} has no role on gs://${bucket} that allows writing: the bucket's policy does not grant it any of ${objectRoles.join(', ')}.`,
      fix: grantBucket(profile, email),
    });
  },
};

type Judged = {
  /** The token chain got as far as the step that needs the grant. */
  readonly isTried: boolean;
  /** The token chain succeeded, so the grant exists at some level. */
  readonly isProven: boolean;
  readonly pass: string;
  readonly missing: string;
  readonly fix: ReturnType<typeof grantBucket>;
};

/**
 * Judges a missing binding by the token chain, because a policy does not show grants inherited from the project or
 * above.
 */
function inheritedOr(
  found: readonly Binding[],
  evidence: Evidence,
  { isTried, isProven, pass: words, missing, fix }: Judged,
): Finding {
  if (isProven) return pass(words, evidence, { asked: 'the token chain', saw: 'succeeded' });
  const condition = found.find((binding) => binding.condition !== undefined)?.condition;
  if (condition === undefined && isTried) return fail(missing, { evidence: [evidence], fix });
  if (condition === undefined)
    return warn(`${missing.slice(0, -1)}; a grant on the project or above it could not be checked.`, {
      evidence: [evidence],
      fix,
    });
  return warn(`The grant has a condition, which is not met here or could not be checked: ${condition}.`, {
    evidence: [evidence],
    fix,
  });
}

async function orMissing<T>(how: () => Promise<T>): Promise<T | undefined> {
  try {
    return await how();
  } catch (error) {
    if (isClusterError(error) && error.kind === 'NotFound') return undefined;
    throw error;
  }
}

/** Returns the result, or `undefined` on failure, because other checks report the failure. */
const outcomeOf = <T>(asking: Promise<T>): Promise<T | undefined> => asking.catch(() => undefined);

/** If the user may not read a policy, its check is skipped, because the token chain shows whether the grants exist. */
export const gcpGrantChecks: readonly Check[] = [workloadUser, bucketRole];
