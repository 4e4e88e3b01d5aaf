import { isRecord } from '#shared/records.ts';

/** A condition of a statement: `StringEquals`, `oidc.eks…:sub`, and the values, one of which must match. */
export type PolicyCondition = { readonly operator: string; readonly key: string; readonly values: readonly string[] };

/** A policy statement; values that IAM accepts in several forms have one form here. */
export type PolicyStatement = {
  readonly effect: 'Allow' | 'Deny';
  readonly actions: readonly string[];
  /** By kind: `AWS`, `Federated`, `Service`. `"Principal": "*"` becomes `AWS` with `*`. */
  readonly principals: Readonly<Record<string, readonly string[]>>;
  readonly conditions: readonly PolicyCondition[];
  /** Has `NotPrincipal` or `NotAction`, which are not evaluated here. */
  readonly isNegated: boolean;
};

/** The statements of a policy: parsed, and as written in the policy. A fix adds a statement to `written`. */
export type PolicyDocument = { readonly statements: readonly PolicyStatement[]; readonly written: readonly unknown[] };

/** Parses a policy from IAM, which is percent-encoded JSON. Returns `undefined` if it is not a policy. */
export function readPolicy(text: string): PolicyDocument | undefined {
  try {
    const document: unknown = JSON.parse(text.trimStart().startsWith('{') ? text : decodeURIComponent(text));
    if (!isRecord(document)) return undefined;
    const written = listOf(document['Statement']);
    return { statements: written.filter(isRecord).map(readStatement), written };
  } catch {
    return undefined;
  }
}

function readStatement(statement: Readonly<Record<string, unknown>>): PolicyStatement {
  const principal = statement['Principal'];
  const principals = isRecord(principal)
    ? Object.fromEntries(Object.entries(principal).map(([kind, values]) => [kind, textsOf(values)]))
    : { AWS: textsOf(principal) };
  return {
    effect: statement['Effect'] === 'Deny' ? 'Deny' : 'Allow',
    actions: textsOf(statement['Action']),
    principals,
    conditions: readConditions(statement['Condition']),
    isNegated: 'NotPrincipal' in statement || 'NotAction' in statement,
  };
}

function readConditions(conditions: unknown): readonly PolicyCondition[] {
  if (!isRecord(conditions)) return [];
  return Object.entries(conditions).flatMap(([operator, keys]) =>
    isRecord(keys) ? Object.entries(keys).map(([key, values]) => ({ operator, key, values: textsOf(values) })) : [],
  );
}

const listOf = (value: unknown): readonly unknown[] =>
  Array.isArray(value) ? value : value === undefined ? [] : [value];

const textsOf = (value: unknown): readonly string[] => listOf(value).map(String);

/** Returns whether a policy pattern matches a string. `*` matches any string, and `?` matches any one character. */
export function matchesPattern(pattern: string, text: string): boolean {
  const parts = pattern
    .split(/([*?])/)
    .map((part) => (part === '*' ? '.*' : part === '?' ? '.' : part.replace(/[\\^$.*+?()[\]{}|/-]/g, '\\$&')));
  return new RegExp(`^${parts.join('')}$`, 's').test(text);
}

/** Actions are compared without case. */
export const allowsAction = ({ actions }: PolicyStatement, action: string): boolean =>
  actions.some((pattern) => matchesPattern(pattern.toLowerCase(), action.toLowerCase()));
