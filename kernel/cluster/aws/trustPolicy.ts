import { readArn, roleNameOf, roleOfSession } from './awsNames.ts';
import {
  allowsAction,
  matchesPattern,
  type PolicyCondition,
  type PolicyDocument,
  type PolicyStatement,
} from './policyDocument.ts';

/**
 * The result of reading a trust policy. Only the call to assume the role proves access. This result explains why the
 * call fails, and shows which other principals have access. `unsure` means that the policy has conditions or negations
 * that are not evaluated here.
 */
type TrustReading = {
  readonly allows: 'yes' | 'no' | 'unsure';
  /** What is missing if the policy does not allow access. Each item is a part of a sentence. */
  readonly problems: readonly string[];
  /** Description of other principals that the policy allows, if it allows too many. */
  readonly open: string | undefined;
};

/** A service account's token that is to assume a role. */
export type WebIdentity = {
  readonly providerArn: string;
  /** URL of the issuer without `https://`, as in conditions. */
  readonly issuer: string;
  readonly audience: string;
  /** `system:serviceaccount:geneva:geneva-ray-runner` */
  readonly subject: string;
};

export function readWebIdentityTrust(policy: PolicyDocument, identity: WebIdentity): TrustReading {
  const action = 'sts:AssumeRoleWithWebIdentity';
  const known = { [`${identity.issuer}:aud`]: identity.audience, [`${identity.issuer}:sub`]: identity.subject };
  return readTrust(policy, action, {
    principal: (statement) => {
      const named = statement.principals['Federated'] ?? [];
      if (named.includes(identity.providerArn) || named.includes('*') || isAnybody(statement)) return undefined;
      return named.length === 0
        ? `no statement for ${action} names an identity provider`
        : `it trusts the provider ${named.join(', ')} instead of ${identity.providerArn}`;
    },
    condition: (condition) => stringCondition(condition, known, identity.issuer),
    open: (statement) => {
      if (isAnybody(statement) && statement.conditions.length === 0)
        return 'every identity, because its principal is "*" without a condition';
      const other = { ...known, [`${identity.issuer}:sub`]: 'system:serviceaccount:another:another' };
      const letsOthers = statement.conditions.every(
        (one) => stringCondition(one, other, identity.issuer) === undefined,
      );
      return letsOthers
        ? `every service account of the cluster, because it does not restrict ${identity.issuer}:sub to one account`
        : undefined;
    },
  });
}

/** Evaluates whether a trust policy accepts a user or a session of a role. */
export function readCallerTrust(policy: PolicyDocument, callerArn: string): TrustReading {
  return readTrust(policy, 'sts:AssumeRole', {
    principal: (statement) =>
      (statement.principals['AWS'] ?? []).some((principal) => isCaller(principal, callerArn))
        ? undefined
        : `no statement for sts:AssumeRole names ${callerArn}`,
    condition: () => unsure,
    open: (statement) =>
      isAnybody(statement) && statement.conditions.length === 0
        ? 'every identity in any AWS account, because its principal is "*" without a condition'
        : undefined,
  });
}

/** What is wrong with a part of a statement; `undefined` if nothing is. */
type Problem = string | typeof unsure | undefined;

/** A condition that is not evaluated here. */
const unsure = Symbol('unsure');

type Reader = {
  readonly principal: (statement: PolicyStatement) => string | undefined;
  readonly condition: (condition: PolicyCondition) => Problem;
  readonly open: (statement: PolicyStatement) => string | undefined;
};

function readTrust({ statements }: PolicyDocument, action: string, reader: Reader): TrustReading {
  const about = statements.filter((statement) => statement.isNegated || allowsAction(statement, action));
  const readings = about.map((statement) => {
    const conditions = statement.conditions.map(reader.condition);
    return {
      statement,
      problems: [reader.principal(statement), ...conditions].filter((one) => typeof one === 'string'),
      isUnsure: statement.isNegated || conditions.includes(unsure),
    };
  });
  const denies = readings.find(({ statement, problems }) => statement.effect === 'Deny' && problems.length === 0);
  if (denies)
    return {
      allows: denies.isUnsure ? 'unsure' : 'no',
      problems: ['a statement denies it'],
      open: undefined,
    };
  const allows = readings.filter(({ statement }) => statement.effect === 'Allow');
  const open = allows.filter(({ problems }) => problems.length === 0).map(({ statement }) => reader.open(statement));
  const found = allows.toSorted(
    (a, b) => a.problems.length - b.problems.length || Number(a.isUnsure) - Number(b.isUnsure),
  )[0];
  if (!found) return { allows: 'no', problems: [`no statement allows ${action}`], open: undefined };
  return {
    allows: found.problems.length > 0 ? 'no' : found.isUnsure ? 'unsure' : 'yes',
    problems: found.problems,
    open: open.find((one) => one !== undefined),
  };
}

const isAnybody = ({ principals }: PolicyStatement): boolean => (principals['AWS'] ?? []).includes('*');

/** A principal is an ARN, an account (all its principals, as far as their own policies allow it), or `*`. */
function isCaller(principal: string, callerArn: string): boolean {
  if (principal === '*' || principal === callerArn) return true;
  const caller = readArn(callerArn);
  if (principal === caller?.account) return true;
  const named = readArn(principal);
  if (named === undefined || named.account !== caller?.account) return false;
  if (named.resource === 'root') return true;
  return named.resource.startsWith('role/') && roleOfSession(callerArn)?.name === roleNameOf(principal);
}

/**
 * Evaluates a condition on a token's claim. `…IfExists` and set operators change nothing for a claim with one value.
 */
function stringCondition(
  { operator, key, values }: PolicyCondition,
  known: Readonly<Record<string, string>>,
  issuer: string,
): Problem {
  const claim = Object.entries(known).find(([name]) => name.toLowerCase() === key.toLowerCase())?.[1];
  const kind = /^(?:ForA(?:ny|ll)Values?:)?(String(?:Equals|Like|EqualsIgnoreCase))(?:IfExists)?$/.exec(operator)?.[1];
  if (claim === undefined)
    // The operator is known and the claim is of another issuer, so the condition can't hold.
    return kind !== undefined && /:(?:aud|sub)$/.test(key) && !operator.endsWith('IfExists')
      ? `it requires ${key}, but the issuer is ${issuer}`
      : unsure;
  if (kind === undefined) return unsure;
  const isSo = values.some((value) =>
    kind === 'StringLike'
      ? matchesPattern(value, claim)
      : kind === 'StringEquals'
        ? value === claim
        : value.toLowerCase() === claim.toLowerCase(),
  );
  return isSo ? undefined : `${key} must be ${values.map((value) => `"${value}"`).join(' or ')}, but is "${claim}"`;
}
