import assert from 'node:assert/strict';

// Evaluates session policies for the stand-in of AWS. It is independent of the code under test, supports only the forms
// that the tests use, and fails for all others. A session policy allows nothing that it does not name.

type Values = string | readonly string[];

type Statement = {
  readonly Effect: string;
  readonly Action: Values;
  readonly Resource: Values;
  readonly Condition?: Readonly<Record<string, Readonly<Record<string, Values>>>>;
};

/** A request to S3 as policies see it. */
export type S3Request = {
  /** `s3:GetObject` */
  readonly action: string;
  /** `arn:aws:s3:::bucket/key` */
  readonly resource: string;
  /** The prefix of a list; undefined for other requests and for a list of the whole bucket. */
  readonly prefix?: string | undefined;
};

const list = (values: Values): readonly string[] => (typeof values === 'string' ? [values] : values);

/** Whether a text matches a pattern of a policy, in which `*` is any text, also with slashes, and `?` one character. */
export function matchesPattern(pattern: string, text: string): boolean {
  assert.ok(!pattern.includes('${'), `The evaluator has no policy variables: ${pattern}`);
  const parts = Array.from(pattern).map((char) =>
    char === '*' ? '.*' : char === '?' ? '.' : char.replace(/[\\^$.|+()[\]{}]/, '\\$&'),
  );
  return new RegExp(`^${parts.join('')}$`, 'su').test(text);
}

/** Whether a session policy allows a request. */
export function isAllowed(policy: string, { action, resource, prefix }: S3Request): boolean {
  const { Version, Statement: statements } = JSON.parse(policy) as { Version: string; Statement: readonly Statement[] };
  assert.equal(Version, '2012-10-17');
  return statements.some(({ Effect, Action, Resource, Condition = {}, ...more }) => {
    assert.deepEqual([Effect, Object.keys(more)], ['Allow', []]);
    assert.ok(list(Action).every((one) => /^s3:[A-Za-z]+$/.test(one)));
    if (!list(Action).includes(action)) return false;
    if (!list(Resource).some((pattern) => matchesPattern(pattern, resource))) return false;
    return Object.entries(Condition).every(([operator, keys]) => {
      assert.deepEqual([operator, Object.keys(keys)], ['StringLike', ['s3:prefix']]);
      return list(keys['s3:prefix']!).some((pattern) => prefix !== undefined && matchesPattern(pattern, prefix));
    });
  });
}
