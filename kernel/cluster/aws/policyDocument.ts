import { isRecord } from '#shared/records.ts';

/** A condition of a statement: `StringEquals`, `oidc.eks…:sub`, and the values of which one must be so. */
export type PolicyCondition = { readonly operator: string; readonly key: string; readonly values: readonly string[] };

/** A statement of a policy, with what may be written in several ways written in one. */
export type PolicyStatement = {
  readonly effect: 'Allow' | 'Deny';
  readonly actions: readonly string[];
  /** By kind: `AWS`, `Federated`, `Service`. `"Principal": "*"` is `AWS` with `*`. */
  readonly principals: Readonly<Record<string, readonly string[]>>;
  readonly conditions: readonly PolicyCondition[];
  /** It says `NotPrincipal` or `NotAction`, which is not followed here. */
  readonly isNegated: boolean;
};

/** What a policy says, and its statements as they were written, for one that is to be added to them. */
export type PolicyDocument = { readonly statements: readonly PolicyStatement[]; readonly written: readonly unknown[] };

/** Reads a policy as IAM gives it, JSON with percent signs; `undefined` for what is none. */
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

/** Whether a pattern of a policy matches: `*` is any text, `?` any character. */
export function matchesPattern(pattern: string, text: string): boolean {
  const parts = pattern
    .split(/([*?])/)
    .map((part) => (part === '*' ? '.*' : part === '?' ? '.' : part.replace(/[\\^$.*+?()[\]{}|/-]/g, '\\$&')));
  return new RegExp(`^${parts.join('')}$`, 's').test(text);
}

/** Actions are compared without case. */
export const allowsAction = ({ actions }: PolicyStatement, action: string): boolean =>
  actions.some((pattern) => matchesPattern(pattern.toLowerCase(), action.toLowerCase()));
