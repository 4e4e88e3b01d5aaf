import type { KnownDifference } from './corpus.ts';

/** What lies beside the notebook of the differences. */
export const filesOfDifferences = {
  'tsconfig.json': '{ "compilerOptions": { "jsx": "react", "jsxFactory": "h" } }',
  'here.ts': 'export const here = import.meta.url;',
};

/** What the kernel does otherwise than a person expects, and why. A difference that is gone fails the suite. */
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
  {
    name: 'calls the JSX factory that tsconfig.json names where it is a variable of a cell',
    reason: 'The name of the factory is written after the names of the notebook were told from others.',
    steps: [
      {
        cell: `declare global { namespace JSX { interface IntrinsicElements { [tag: string]: object } } }
const h = (tag: string, props: object | null, ...kids: unknown[]) => ({ tag, kids })`,
      },
      { cell: '<p>hi {1 + 1}</p>', value: "{ tag: 'p', kids: [ 'hi ', 2 ] }" },
    ],
  },
  {
    name: 'gives a file its plain address in import.meta.url',
    reason: 'Files are loaded again under an address of their own when they change, which import.meta.url then has.',
    steps: [{ cell: 'import { here } from "./here.ts"; here.endsWith("here.ts")', value: 'true' }],
  },
  {
    name: 'shows the properties that an error has besides its message, as Node does',
    reason: 'A traceback has the stack, causes and parts of an error, nothing else.',
    steps: [
      {
        cell: 'throw Object.assign(new Error("no such user"), { code: "E_USER" })',
        error: /^Error: no such user$/,
        trace: /E_USER/,
      },
    ],
  },
  {
    name: 'keeps what the compiler added for using out of the traceback',
    reason: 'Those lines have no place in the cell that a source map could name, and are kept without one.',
    steps: [
      {
        cell: 'using held = { [Symbol.dispose]() { throw new Error("not let go") } }',
        error: /^Error: not let go$/,
        trace: /^(?![^]*__disposeResources)/,
      },
    ],
  },
  {
    name: 'says of an address of TypeScript that it can not be imported',
    reason: "Node's own loaders know no data: of TypeScript, and its message is about the kernel's hooks.",
    steps: [
      { cell: 'await import("data:text/typescript,export const n: number = 1")', error: /data:text\/typescript/ },
    ],
  },
  {
    name: 'lets a direct eval see the variables of the notebook',
    reason:
      'They are no variables of the script that a cell becomes, and code in a text can not be told at compile time.',
    steps: [{ cell: 'const seen = 1; eval("seen + 1")', value: '2' }],
  },
];
