import assert from 'node:assert/strict';
import {
  askProfile,
  emptyDraft,
  freeProfileName,
  settingOf,
  type ProfileDraft,
} from '../../../../extension/cluster/profileWizard.ts';
import type { Answer, Question } from '../../../../extension/host/askStep.ts';

/** Returns a user who answers the prompts in order, and the prompts. */
function answering(...answers: readonly (string | undefined)[]) {
  const asked: Question[] = [];
  const left = [...answers];
  const ask = (question: Question): Promise<Answer> => {
    asked.push(question);
    const next = left.shift();
    return Promise.resolve(next === undefined || next === 'back' ? next : { value: next });
  };
  return { asked, ask };
}

const contextDraft: ProfileDraft = { ...emptyDraft, base: { context: 'kind-dev' }, namespace: 'ml', name: 'kind-dev' };

suite('the steps of a new cluster profile', () => {
  test('make what is written in the setting', async () => {
    const { ask } = answering('geneva', 'runner', 's3://tables/prod', 'dev');
    const draft = await askProfile(contextDraft, { ask, existing: [] });
    assert.ok(draft);
    assert.equal(draft.name, 'dev');
    assert.deepEqual(settingOf(draft), {
      context: 'kind-dev',
      namespace: 'geneva',
      serviceAccount: 'runner',
      storage: 's3://tables/prod',
    });
  });

  test('ask for cluster, region and role where AWS is asked', async () => {
    const { ask } = answering('shop', 'eu-west-1', 'client-role', 'geneva', 'runner', '', 'shop');
    const draft = await askProfile({ ...emptyDraft, isEks: true }, { ask, existing: [] });
    assert.ok(draft);
    assert.deepEqual(settingOf(draft), {
      configMethod: 'EKS_AUTH',
      clusterName: 'shop',
      region: 'eu-west-1',
      roleName: 'client-role',
      namespace: 'geneva',
      serviceAccount: 'runner',
    });
  });

  test('can be gone back, with what was typed', async () => {
    const { ask, asked } = answering('geneva', 'back', 'other', 'runner', '', 'dev');
    const draft = await askProfile(contextDraft, { ask, existing: [] });
    assert.equal(asked[2]?.value, 'geneva');
    assert.equal(draft?.namespace, 'other');
  });

  test('end when the person leaves', async () => {
    const { ask } = answering('geneva', undefined);
    assert.equal(await askProfile(contextDraft, { ask, existing: [] }), undefined);
  });

  const texts = [
    ['namespace', 'Geneva', 'geneva'],
    ['serviceAccount', 'a_b', 'geneva-sa'],
    ['storage', 'https://bucket', 'gs://bucket/tables'],
    ['name', 'taken', 'free'],
  ] as const;
  for (const [index, [what, wrong, right]] of texts.entries()) {
    test(`say what is wrong with a text while it is typed: ${what}`, async () => {
      const { ask, asked } = answering('geneva', 'runner', '', 'dev');
      await askProfile(contextDraft, { ask, existing: ['taken'] });
      const check = asked[index]?.check;
      assert.match(check?.(wrong) ?? '', /^(Type|The profile "taken" already exists)/);
      assert.equal(check?.(right), undefined);
    });
  }

  test('suggest a name that is not taken', () => {
    assert.equal(freeProfileName('dev', []), 'dev');
    assert.equal(freeProfileName('dev', ['dev', 'dev-2']), 'dev-3');
    assert.equal(freeProfileName('', []), 'cluster');
  });
});
