/** The usage of a magic, and its help in one sentence. */
export type MagicForm = {
  /** Text after `%name` in the usage; undefined if it is not a line magic. */
  line?: string;
  /** Text after `%%name` in the usage; undefined if it is not a cell magic. */
  cell?: string;
  help: string;
  /** Whether the argument of the magic is notebook code. */
  takesCode?: true;
};

/** All magics, for `%help`, for completion after `%` and for parsing cells. */
const magicForms = {
  help: { line: '[name]', help: 'List the magics, or show the usage of one.' },
  time: { line: 'code', cell: '', takesCode: true, help: 'Run code once and show how long it took.' },
  timeit: {
    line: '[-n loops] [-r runs] code',
    cell: '[-n loops] [-r runs]',
    takesCode: true,
    help: 'Run code many times and show the mean time per loop.',
  },
  who: { line: '', help: 'List the variables of the notebook with their types.' },
  whos: { line: '', help: 'List the variables with their types, sizes and values.' },
  reset: { line: '[-f]', help: 'Delete all variables. Asks first, unless -f is given.' },
  env: {
    line: '[NAME | NAME=value | -u NAME | --ask NAME]',
    help: 'List, show, set or unset environment variables. --ask prompts for a value that the notebook must not contain.',
  },
  cd: { line: '[folder | -]', help: 'Change the working directory, also for imports. - returns to the previous one.' },
  pwd: { line: '', help: 'Show the working directory.' },
  check: { line: '[error | warn | off]', help: 'Show or set what a type error does to a cell.' },
  save: {
    line: '[-f] file [cells]',
    help: 'Save cells that ran to a TypeScript file: those with the given numbers (2 4-6), or all. -f replaces the file.',
  },
  install: {
    line: '[--yes] [--dev] [--scripts] name@version …',
    help: 'Install packages with npm in the project of the notebook. Asks first, unless --yes is given; runs install scripts only with --scripts.',
  },
  sql: {
    cell: '[--to name]',
    help: 'Query tables of db with SQL, with ${…} for values of the notebook. The result is stored in _, or in the given name.',
  },
  sh: { line: 'command', cell: '', help: 'Run commands with your shell.' },
} as const satisfies Record<string, MagicForm>;

export type MagicName = keyof typeof magicForms;

export const isMagicName = (name: string): name is MagicName => Object.hasOwn(magicForms, name);

export const magicNames = Object.keys(magicForms).filter(isMagicName);

export const formOf = (name: MagicName): MagicForm => magicForms[name];

/** Returns the usages of a magic, `%time code` and `%%time`. */
export function usagesOf(name: MagicName): string[] {
  const { line, cell } = formOf(name);
  return [
    ...(line === undefined ? [] : [`%${name} ${line}`.trimEnd()]),
    ...(cell === undefined ? [] : [`%%${name} ${cell}`.trimEnd()]),
  ];
}

/** Returns the magic with the most similar name, if it is similar enough. */
export function nearestMagic(name: string): MagicName | undefined {
  const typed = name.toLowerCase();
  const [best] = magicNames
    .map((known) => ({ known, distance: distanceOf(typed, known) }))
    .filter(({ known, distance }) => distance <= Math.max(1, Math.floor(known.length / 2)))
    .toSorted((a, b) => a.distance - b.distance);
  return best?.known;
}

/** Returns the edit distance: letters inserted, deleted or changed. */
function distanceOf(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      const change = (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
      next.push(Math.min(change, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1));
    }
    row = next;
  }
  return row[b.length] ?? 0;
}
