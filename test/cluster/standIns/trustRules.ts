import assert from 'node:assert/strict';

// Evaluates trust policies for the stand-in of STS. It is independent of the code under test, supports only the forms
// that the tests use, and fails for all others.

type Values = string | readonly string[];

type Rule = {
  readonly Effect: string;
  readonly Principal: '*' | { readonly AWS?: Values; readonly Federated?: Values };
  readonly Action: Values;
  readonly Condition?: Readonly<Record<string, Readonly<Record<string, Values>>>>;
};

const list = (values: Values | undefined): readonly string[] =>
  values === undefined ? [] : typeof values === 'string' ? [values] : values;

/** Returns whether a trust policy allows an action, for a principal and the properties of its request. */
export function isTrusted(
  policy: string,
  action: string,
  who: { readonly AWS?: readonly string[]; readonly Federated?: readonly string[] },
  facts: Readonly<Record<string, string>> = {},
): boolean {
  const { Statement: rules } = JSON.parse(policy) as { Statement: readonly Rule[] };
  return rules.some((rule) => {
    assert.equal(rule.Effect, 'Allow');
    if (!list(rule.Action).includes(action)) return false;
    if (!isNamed(rule.Principal, who)) return false;
    return Object.entries(rule.Condition ?? {}).every(([operator, keys]) =>
      Object.entries(keys).every(([key, values]) => holds(operator, facts[key], list(values))),
    );
  });
}

function isNamed(principal: Rule['Principal'], who: Parameters<typeof isTrusted>[2]): boolean {
  if (principal === '*') return true;
  return (['AWS', 'Federated'] as const).some((kind) =>
    list(principal[kind]).some((named) => named === '*' || (who[kind] ?? []).includes(named)),
  );
}

function holds(operator: string, fact: string | undefined, values: readonly string[]): boolean {
  if (fact === undefined) return false;
  if (operator === 'StringEquals') return values.includes(fact);
  assert.equal(operator, 'StringLike');
  return values.some((value) => {
    assert.match(value, /^[^*?]*\*?$/);
    return value.endsWith('*') ? fact.startsWith(value.slice(0, -1)) : fact === value;
  });
}
