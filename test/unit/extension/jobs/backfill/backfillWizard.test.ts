import assert from 'node:assert/strict';
import type { ComputedColumn } from '#shared/jobs/computedFunction.ts';
import type { Answer, PickQuestion, PickStep, Question } from '../../../../../extension/host/askStep.ts';
import { askBackfill, type BackfillChoice } from '../../../../../extension/jobs/backfill/backfillWizard.ts';
import { columnChoices } from '../../../../../extension/jobs/backfill/columnChoices.ts';
import { somePlan } from '../somePlan.ts';

const made = somePlan().function;
const computed: ComputedColumn = {
  column: 'note_length',
  type: 'int32',
  function: made,
  keptBy: 'table',
  author: 'ada@example.com',
  registeredAt: '2026-05-04T12:00:00Z',
  rows: 1000,
  filled: 1000,
  valuesHash: undefined,
  isStale: false,
};
const columns = [
  { name: 'id', type: 'int64', nullable: true },
  { name: 'note', type: 'utf8', nullable: true },
  { name: 'note_length', type: 'int32', nullable: true },
];

/** What a user does in a step: types a text, picks a label, presses Enter, goes back, or cancels. */
type Act = { type: string } | { pick: string; typed?: string } | 'enter' | 'back' | 'escape';
type Shown = { title: string; step: string; value?: string | undefined; warning?: string | undefined };

const stepText = ({ number, of }: { number: number; of: number }): string => `${number}/${of}`;

/** Runs the wizard with the steps of a user. The last step records what would be planned. */
async function wizard(
  acts: Act[],
  { pointed, isFileMissing = false }: { pointed?: string; isFileMissing?: boolean } = {},
) {
  const shown: Shown[] = [];
  const plans: BackfillChoice[] = [];
  const next = (): Act => acts.shift() ?? 'escape';
  const ask = async (question: Question): Promise<Answer> => {
    const act = next();
    const typed = typeof act === 'object' && 'type' in act ? act.type : (question.value ?? '');
    const { title, value } = question;
    shown.push({ title, value, step: stepText(question.step!), warning: question.warn?.(typed) });
    if (act === 'back') return 'back';
    if (act === 'escape') return undefined;
    assert.equal(question.check?.(typed), undefined);
    await question.accept?.(typed, AbortSignal.timeout(1000));
    return { value: typed };
  };
  const pick: PickStep = <T>({ title, step, choices }: PickQuestion<T>) => {
    const act = next();
    shown.push({ title, step: stepText(step) });
    if (act === 'back') return Promise.resolve('back' as const);
    if (act === 'escape') return Promise.resolve(undefined);
    const found =
      typeof act === 'object' && 'pick' in act ? choices.find(({ label }) => label.startsWith(act.pick)) : choices[0];
    assert.ok(found);
    const typed = typeof act === 'object' && 'pick' in act ? act.typed : undefined;
    return Promise.resolve({ value: found.value, ...(typed !== undefined && { typed }) });
  };
  const isDone = await askBackfill(
    { name: 'orders', columns, computed: [computed], pointed },
    {
      ask,
      pick,
      read: (_column, source) => Promise.resolve({ ...made, name: source.kind === 'sql' ? source.expression : 'file' }),
      askFile: () => Promise.resolve(isFileMissing ? undefined : made),
      checkColumn: () => {},
      plan: async (chosen, step) => {
        plans.push(chosen);
        const answer = await pick({ title: 'runner', step, choices: [{ label: 'This machine', value: 0 }] });
        return answer === undefined || answer === 'back' ? answer : 'next';
      },
    },
  );
  const steps = shown.map(({ step, title }) => `${step} ${title.split(' ').slice(0, 2).join(' ')}`);
  return { isDone, shown, steps, plans };
}

suite('The wizard of "Backfill Column…"', () => {
  test('asks for a new column first, so that Enter recomputes nothing', async () => {
    const { steps, plans } = await wizard([
      'enter',
      { type: 'size' },
      { pick: 'SQL' },
      { type: 'length(note)' },
      'enter',
    ]);
    assert.deepEqual(steps, ['1/5 Select the', '2/5 New column', '3/5 Select the', '4/5 SQL expression', '5/5 runner']);
    assert.deepEqual(plans[0]?.column, { kind: 'new', name: 'size' });
    const chosen = plans[0]?.made;
    assert.equal(typeof chosen === 'object' ? chosen.name : chosen, 'length(note)');
  });

  test('keeps a name that was typed in the list of columns', async () => {
    const { shown, plans } = await wizard([{ pick: 'New Column', typed: 'size' }, 'enter', { pick: 'SQL' }, 'escape']);
    assert.equal(shown[1]?.value, 'size');
    assert.equal(plans.length, 0);
    assert.equal(columnChoices(columns, []).find(({ value }) => value === 'new')?.isAlwaysShown, true);
  });

  test('needs two steps for a column that the user has selected and that has its function', async () => {
    const { steps, plans } = await wizard([{ pick: 'Function "' }, 'enter'], { pointed: 'note_length' });
    assert.deepEqual(steps, ['1/3 Select the', '2/2 runner']);
    assert.equal(plans[0]?.made, 'stored');
  });

  test('goes back through all steps, and keeps what was entered', async () => {
    const { isDone, shown, steps } = await wizard([
      'enter',
      { type: 'size' },
      { pick: 'SQL' },
      { type: 'length(note)' },
      'back',
      'back',
      'back',
      'back',
      { pick: 'note_length' },
      { pick: 'SQL' },
      'enter',
      'enter',
    ]);
    assert.equal(isDone, true);
    assert.deepEqual(steps.slice(4), [
      '5/5 runner',
      '4/5 SQL expression',
      '3/5 Select the',
      '2/5 New column',
      '1/5 Select the',
      '2/4 Select the',
      '3/4 SQL expression',
      '4/4 runner',
    ]);
    assert.deepEqual([shown[5]?.value, shown[7]?.value], ['length(note)', 'size']);
  });

  test('returns to the kinds of functions if no file is chosen', async () => {
    const { steps, isDone } = await wizard(['enter', { type: 'size' }, { pick: 'Python' }, 'escape'], {
      isFileMissing: true,
    });
    assert.deepEqual([isDone, steps.at(-1), steps.length], [false, '3/5 Select the', 4]);
  });

  test('ends if the user cancels', async () => {
    assert.deepEqual((await wizard(['escape'])).isDone, false);
  });

  test('says of a name that SQL needs backticks for it, and names another', async () => {
    const { shown } = await wizard(['enter', { type: 'total eur' }, 'escape']);
    assert.equal(shown[1]?.warning, 'In SQL, this name needs backticks: `total eur`. A name without them: total_eur');
  });
});
