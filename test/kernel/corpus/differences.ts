import type { KnownDifference } from './corpus.ts';

/** Where the kernel differs from a user's expectation, and why. If a difference no longer exists, the suite fails. */
export const differences: readonly KnownDifference[] = [
  {
    name: 'names a private member of a class of an earlier cell as private, not as missing',
    reason: 'Later cells know classes by their declarations, in which TypeScript writes no names of private members.',
    steps: [
      { cell: 'class Safe { #code = 1; open() { return this.#code } }' },
      { cell: 'new Safe().#code', error: /'#code' is not accessible outside class 'Safe'/ },
    ],
  },
  {
    name: 'narrows a union by the truth of its mark where no tsconfig.json says how strict to be',
    reason: 'Cells are not strict by default, and TypeScript narrows by truth only with strictNullChecks.',
    steps: [
      { cell: 'type Answer = { ok: true; value: number } | { ok: false; reason: string }' },
      {
        cell: 'const why = (a: Answer) => (a.ok ? "" : a.reason); why({ ok: false, reason: "late" })',
        value: "'late'",
      },
    ],
  },
];
