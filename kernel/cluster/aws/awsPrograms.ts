import { createHash } from 'node:crypto';
import { getProfileName, parseKnownFiles } from '@smithy/core/config';
import type { ProfileOrigin } from '#cluster/profile.ts';
import { definedEntries } from '#shared/records.ts';
import { type SignInProgram, signInProgram } from '#cluster/profiles/programTrust.ts';

/** The files of AWS that contain profiles. */
export type AwsFiles = { readonly filepath?: string | undefined; readonly configFilepath?: string | undefined };

/**
 * Lists the programs (`credential_process`) of an AWS profile and of the profiles that it builds on.
 * @param profile Default: the profile that AWS_PROFILE names, else the profile `default`
 * @param files Default: the files that this process uses
 */
export async function awsPrograms(
  origin: ProfileOrigin,
  profile: string | undefined,
  files: AwsFiles = {},
): Promise<readonly SignInProgram[]> {
  const { AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_PROFILE } = process.env;
  if (profile === undefined && !AWS_PROFILE && AWS_ACCESS_KEY_ID && AWS_SECRET_ACCESS_KEY) return [];
  // An error is ignored here, because a file that can't be read is reported when the credentials are read.
  const profiles: Readonly<Record<string, AwsProfile>> = await parseKnownFiles({
    ignoreCache: true,
    ...definedEntries(files),
  }).catch(() => ({}));
  const seen = new Set<string>();
  const found: SignInProgram[] = [];
  for (let name: string | undefined = profile ?? getProfileName({}); name !== undefined && !seen.has(name);) {
    seen.add(name);
    const settings: AwsProfile = profiles[name] ?? {};
    const command = settings['credential_process'];
    if (command !== undefined) {
      const sourceHash = createHash('sha256').update(JSON.stringify(settings)).digest('hex');
      found.push(signInProgram({ origin, command, env: {}, source: `the AWS profile "${name}"` }, sourceHash));
    }
    name = settings['source_profile'];
  }
  return found;
}

type AwsProfile = Readonly<Record<string, string | undefined>>;
