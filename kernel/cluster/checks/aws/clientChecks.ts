import { callerTrustFix } from '#cluster/aws/awsFixes.ts';
import { isSessionOf } from '#cluster/aws/awsNames.ts';
import { readCallerTrust } from '#cluster/aws/trustPolicy.ts';
import type { Check } from '#cluster/check.ts';
import { fail, pass, warn } from '#cluster/checkResults.ts';
import { failureAsFinding, awsCheck, isAwsDenied, roleIfReadable, awsEvidence, unlessOnAws } from './awsContext.ts';

/** The AWS identity of the user, and whether it may assume the client role. */
export const awsClientChecks: readonly Check[] = [
  awsCheck({
    id: 'aws-identity',
    title: 'You are signed in to AWS',
    severity: 'error',
    needs: [],
    skip: unlessOnAws,
    run: async ({ aws }) => {
      const { arn, account } = await aws.caller();
      const evidence = awsEvidence('sts:GetCallerIdentity', arn);
      const { account: expected, profile } = aws.place;
      if (expected !== undefined && expected !== account)
        return fail(`You are signed in to the AWS account ${account}, but the profile is for ${expected}.`, {
          evidence: [evidence],
          fix: {
            kind: 'advice',
            text: `Choose a profile of the account ${expected} (AWS_PROFILE, or "aws.profile" in the settings)${profile === undefined ? '' : ` instead of "${profile}"`}.`,
          },
        });
      return pass(`You are ${arn}.`, evidence);
    },
  }),
  awsCheck({
    id: 'aws-assume-client',
    title: 'You may act as the client role',
    severity: 'error',
    needs: ['aws-identity'],
    skip: unlessOnAws,
    run: (context) => {
      const { aws } = context;
      return failureAsFinding(
        async () => {
          const { arn, how } = await aws.client();
          if (how === 'person') return pass(`The profile has no client role, so the client acts as you, ${arn}.`);
          if (how === 'already') return pass(`You already are the client role ${arn}.`);
          return pass(
            `You may assume the client role ${arn}.`,
            awsEvidence(`sts:AssumeRole ${arn}`, 'credentials for an hour'),
          );
        },
        {
          Forbidden: async (error) => {
            const [{ arn }, roleArn = ''] = [await aws.caller(), await aws.clientRoleArn()];
            const role = await roleIfReadable(context, roleArn);
            return fail(`You, ${arn}, may not assume the client role ${roleArn}.`, {
              evidence: [isAwsDenied(`sts:AssumeRole ${roleArn}`, error)],
              fix: callerTrustFix(roleArn, arn, role?.trust),
            });
          },
        },
      );
    },
  }),
  awsCheck({
    id: 'aws-client-trust',
    title: 'Client role trusts only you',
    severity: 'warning',
    needs: ['aws-identity'],
    skip: (context) =>
      unlessOnAws(context) ??
      (context.aws.place.clientRole === undefined ? 'The profile has no client role.' : undefined),
    run: ({ aws }) =>
      failureAsFinding(
        async () => {
          const [{ arn }, roleArn = ''] = [await aws.caller(), await aws.clientRoleArn()];
          const role = await aws.role(roleArn);
          const { allows, problems, open } = readCallerTrust(role.trust, arn);
          const evidence = [awsEvidence(`iam:GetRole ${role.name}`, JSON.stringify(role.trust.written))];
          if (open !== undefined)
            return warn(`The trust policy of the client role ${roleArn} trusts ${open}.`, {
              evidence,
              fix: {
                kind: 'advice',
                text: `Name only the users who launch backfills in the trust policy of ${role.name}, such as ${arn}.`,
              },
            });
          // The trust policy is not needed if the user already has a session of the role.
          if (allows === 'no' && !isSessionOf(arn, roleArn))
            return warn(`The trust policy of the client role ${roleArn} does not trust you: ${problems.join('; ')}.`, {
              evidence,
              fix: callerTrustFix(roleArn, arn, role.trust),
            });
          const sure = allows === 'unsure' ? ', under conditions' : '';
          return pass(`The trust policy of the client role ${roleArn} trusts you${sure}.`, ...evidence);
        },
        {
          NotFound: async (error) => {
            const roleArn = (await aws.clientRoleArn()) ?? '';
            return warn(`There is no client role ${roleArn}.`, {
              evidence: [isAwsDenied('iam:GetRole', error)],
              fix: {
                kind: 'advice',
                text: 'Create the role, or set another one in the profile (aws.clientRole, roleName).',
              },
            });
          },
        },
      ),
  }),
];
