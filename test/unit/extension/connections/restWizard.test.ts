import assert from 'node:assert/strict';
import { CatalogError } from '#shared/errors.ts';
import {
  askServer,
  type Draft,
  emptyDraft,
  isUnreachable,
  secretsOfDraft,
  stepFor,
} from '../../../../extension/connections/restWizard.ts';
import type { Answer, Question } from '../../../../extension/host/askStep.ts';

const back = Symbol('back');
const more = Symbol('more');

/** Returns a user who gives these answers in order, and the prompts. */
function person(...answers: readonly (string | undefined | typeof back | typeof more)[]) {
  const asked: Question[] = [];
  const left = [...answers];
  const ask = (question: Question): Promise<Answer> => {
    asked.push(question);
    const answer = left.shift();
    if (answer === back) return Promise.resolve('back');
    if (answer === more) return Promise.resolve('more');
    return Promise.resolve(answer === undefined ? undefined : { value: answer });
  };
  return { asked, ask };
}

const run = (draft: Draft, ask: (question: Question) => Promise<Answer>, from?: Parameters<typeof askServer>[2]) =>
  askServer(draft, { title: 'Add', ask, existing: [{ name: 'sales' }] }, from);

suite('the steps of adding a server', () => {
  test('lead from an address and a key to a connection, with as little as that', async () => {
    const { ask, asked } = person('catalog.example.com', 'sesame', '', '', 'company');
    assert.deepEqual(await run(emptyDraft, ask), {
      uri: 'https://catalog.example.com',
      apiKey: 'sesame',
      database: '',
      headers: {},
      token: '',
      endpoint: '',
      ca: '',
      name: 'company',
    });
    assert.deepEqual(
      asked.map(({ step }) => step?.number),
      [1, 2, 3, 4, 5],
    );
  });

  test('hide what is typed only where it is the key', async () => {
    const { ask, asked } = person('a.example', 'sesame', '', '', 'a');
    await run(emptyDraft, ask);
    assert.deepEqual(
      asked.map(({ isSecret = false }) => isSecret),
      [false, true, false, false, false],
    );
  });

  test('take headers one by one until an empty line, the last of one name, and none with an empty value', async () => {
    const typed = ['X-Team: data', 'x-team: web', 'Authorization: Bearer t', 'authorization:', ''];
    const { ask } = person('a.example', '', '', ...typed, 'a');
    assert.deepEqual((await run(emptyDraft, ask))?.headers, { 'x-team': 'web' });
  });

  test('say which headers there are by their names, never by their values', async () => {
    const { ask, asked } = person('a.example', '', '', 'X-Token: sesame', '', 'a');
    await run(emptyDraft, ask);
    assert.match(asked[4]?.prompt ?? '', /X-Token/);
    assert.doesNotMatch(JSON.stringify(asked[4]), /sesame/);
  });

  test('ask for a token, an endpoint and certificates who wants more, and hide the token', async () => {
    const { ask, asked } = person('a.example', '', '', more, 'sesame', '10.0.0.7:8443', '/etc/ca.pem', 'a');
    const draft = await run(emptyDraft, ask);
    assert.deepEqual(
      [draft?.token, draft?.endpoint, draft?.ca, draft?.name],
      ['sesame', '10.0.0.7:8443', '/etc/ca.pem', 'a'],
    );
    assert.deepEqual(
      asked.map(({ isSecret = false, more: offered }) => [isSecret, offered !== undefined]),
      [0, 1, 2, 3, 4, 5, 6, 7].map((at) => [at === 1 || at === 4, at === 3]),
    );
    assert.match(asked[5]?.check?.('http://a.example') ?? '', /endpoint/);
    assert.equal(asked[5]?.check?.('10.0.0.7:8443'), undefined);
    assert.match(asked[6]?.check?.('ca.pem') ?? '', /absolute path/);
    assert.deepEqual(secretsOfDraft(draft!), { token: 'sesame' });
  });

  test('ask again for all that an edited connection has', async () => {
    const draft = { ...emptyDraft, uri: 'https://a.example', endpoint: '10.0.0.7:8443', name: 'a' };
    const { ask, asked } = person('a.example', '', '', '', '', '', '', 'a');
    assert.equal((await run(draft, ask))?.endpoint, '');
    assert.equal(asked[5]?.value, '10.0.0.7:8443');
  });

  test('can be gone back, with what was typed', async () => {
    const { ask, asked } = person('a.example', 'sesame', back, 'other', 'sales', '', 'name');
    const draft = await run(emptyDraft, ask);
    assert.equal(asked[3]?.value, 'sesame');
    assert.equal(draft?.apiKey, 'other');
    assert.equal(draft?.database, 'sales');
  });

  test('suggest a name that is free', async () => {
    const { ask, asked } = person('a.example', '', 'sales', '', 'x');
    await run(emptyDraft, ask);
    assert.equal(asked[4]?.value, 'sales 2');
    assert.match(asked[4]?.check?.('sales') ?? '', /"sales" already/);
  });

  test('give nothing when the person leaves', async () => {
    const { ask } = person('a.example', undefined);
    assert.equal(await run(emptyDraft, ask), undefined);
  });

  test('begin after a failure where it can be corrected, with all that was typed', async () => {
    const typed = { uri: 'https://a.example', apiKey: 'wrong', database: 'd', headers: { 'X-A': 'b' }, name: 'a' };
    const draft = { ...emptyDraft, ...typed };
    const unauthenticated = new CatalogError('Unauthenticated', 'The key is not known.', '');
    const { ask, asked } = person('right', 'd', '', 'a');
    assert.deepEqual(await run(draft, ask, stepFor(unauthenticated)), { ...draft, apiKey: 'right' });
    assert.equal(asked[0]?.value, 'wrong');
    assert.equal(stepFor(new CatalogError('ServiceUnavailable', 'Nobody is there.', '')), 'address');
  });

  test('let a server be kept that is not there, and none that refuses', () => {
    assert.ok(isUnreachable(new CatalogError('ServiceUnavailable', 'Nobody is there.', '')));
    for (const kind of ['Unauthenticated', 'PermissionDenied', 'InvalidInput'] as const)
      assert.ok(!isUnreachable(new CatalogError(kind, 'No.', '')), kind);
  });

  test('leave nothing to keep secret where nothing was typed', () => {
    assert.deepEqual(secretsOfDraft(emptyDraft), {});
    assert.deepEqual(secretsOfDraft({ ...emptyDraft, apiKey: 'k', headers: { a: 'b' } }), {
      apiKey: 'k',
      headers: { a: 'b' },
    });
  });
});
