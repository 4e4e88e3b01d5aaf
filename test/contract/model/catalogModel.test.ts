import assert from 'node:assert/strict';
import { Roots, type SubjectName } from './roots.ts';
import { runSequence, sequenceLength } from './runSequence.ts';

/**
 * The number of sequences per subject, and how many run at the same time: more for an object store, which mostly waits.
 * `npm run bench -- catalog-model` runs more sequences.
 */
const plans: Readonly<Record<SubjectName, { sequences: number; atOnce: number }>> = {
  dir: { sequences: 10, atOnce: 1 },
  serve: { sequences: 10, atOnce: 2 },
  store: { sequences: 8, atOnce: 4 },
  'dir, killed': { sequences: 4, atOnce: 2 },
  'store, killed': { sequences: 3, atOnce: 3 },
};

/** The seed of a failed sequence. If set, only that sequence runs, on each subject. */
const seedVariable = 'CATALOG_MODEL_SEED';
const onlySeed = process.env[seedVariable];

suite('random sequences of operations end as in the model', function () {
  this.timeout(600_000);
  let roots: Roots;

  suiteSetup(async () => {
    roots = await Roots.start(2);
  });
  suiteTeardown(() => roots.stop());

  for (const [index, subject] of (Object.keys(plans) as SubjectName[]).entries()) {
    const { sequences, atOnce } = plans[subject];
    const seeds =
      onlySeed === undefined
        ? Array.from({ length: sequences }, (_, number) => 1 + index * 1000 + number)
        : [Number(onlySeed)];

    test(`${subject}: ${seeds.length} sequences`, async () => {
      const waiting = [...seeds];
      let operations = 0;
      await Promise.all(
        Array.from({ length: atOnce }, async () => {
          for (let seed = waiting.shift(); seed !== undefined; seed = waiting.shift()) {
            const result = await runSequence(roots, subject, seed);
            operations += result.operations;
            const again = `\nRun it alone with ${seedVariable}=${seed}.`;
            assert.equal(result.difference, undefined, (result.difference ?? '') + again);
          }
        }),
      );
      assert.equal(operations, seeds.length * sequenceLength);
    });
  }
});
