import { Roots, type SubjectName } from '../contract/model/roots.ts';
import { runSequence, sequenceLength } from '../contract/model/runSequence.ts';
import { lineOf, type Figure } from './report.ts';

export type CatalogModelBenchOptions = {
  /** Number of operations on all subjects together. */
  operations: number;
  /** The seed of the first sequence. Each further sequence uses the next number. */
  seed: number;
  say: (line: string) => void;
};

/** The share of the operations per subject. An object store takes ten times as long as a directory. */
const subjects: readonly { name: SubjectName; share: number; atOnce: number }[] = [
  { name: 'dir', share: 0.5, atOnce: 2 },
  { name: 'serve', share: 0.3, atOnce: 2 },
  { name: 'store', share: 0.12, atOnce: 4 },
  { name: 'dir, killed', share: 0.06, atOnce: 2 },
  { name: 'store, killed', share: 0.02, atOnce: 4 },
];

type Total = { operations: number; kills: number; differences: number; lost: number };

/**
 * Runs random sequences of operations on catalogs and on a model, with seeds that no test uses. Kills some processes
 * during operations. There is no peer: the figures count differences from the model.
 */
export async function benchCatalogModel({ operations, seed, say }: CatalogModelBenchOptions): Promise<Figure[]> {
  const roots = await Roots.start(2);
  const all: Total = { operations: 0, kills: 0, differences: 0, lost: 0 };
  let nextSeed = seed;
  try {
    for (const { name, share, atOnce } of subjects) {
      const started = performance.now();
      const total: Total = { operations: 0, kills: 0, differences: 0, lost: 0 };
      const first = nextSeed;
      let left = Math.max(1, Math.round((operations * share) / sequenceLength));
      const runNext = async (): Promise<void> => {
        while (left-- > 0) {
          const result = await runSequence(roots, name, nextSeed++);
          total.operations += result.operations;
          total.kills += result.kills;
          total.lost += result.lost;
          if (result.difference === undefined) continue;
          total.differences++;
          say(`  DIFFERENCE in ${result.difference}`);
        }
      };
      await Promise.all(Array.from({ length: atOnce }, runNext));
      const seconds = (performance.now() - started) / 1000;
      say(
        `  ${name}: ${total.operations} operations in ${seconds.toFixed(0)} s, seeds ${first} to ${nextSeed - 1}, ` +
          `${total.kills} kills, ${total.differences} differences`,
      );
      for (const key of Object.keys(all) as (keyof Total)[]) all[key] += total[key];
    }
  } finally {
    await roots.stop();
  }
  const figures: Figure[] = [
    { name: `operations from seed ${seed}`, value: all.operations, unit: 'operations' },
    { name: 'operations during which the process was killed', value: all.kills, unit: 'operations' },
    { name: 'differences from the model', value: all.differences, unit: 'differences', goal: 0 },
    { name: 'names lost', value: all.lost, unit: 'names', goal: 0 },
  ];
  for (const figure of figures) say(lineOf(figure));
  return figures;
}
