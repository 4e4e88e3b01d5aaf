/** The usage of a magic, and its help in one sentence. */
export type MagicForm = {
  /** Text after `%name` in the usage; undefined if it is not a line magic. */
  line?: string;
  /** Text after `%%name` in the usage; undefined if it is not a cell magic. */
  cell?: string;
  help: string;
  /** Its argument is notebook code. */
  takesCode?: true;
};

/** All magics, for `%help`, for completion after `%` and for parsing cells. */
const magicForms = {
  help: { line: '[name]', help: 'Lists the magics, or says how one is written.' },
  time: { line: 'code', cell: '', takesCode: true, help: 'Runs code once and says how long it took.' },
  timeit: {
    line: '[-n loops] [-r runs] code',
    cell: '[-n loops] [-r runs]',
    takesCode: true,
    help: 'Runs code many times and says how long one time takes.',
  },
  who: { line: '', help: 'Lists the variables of the notebook with their types.' },
  whos: { line: '', help: 'Lists them with their sizes and what is in them as well.' },
  reset: { line: '[-f]', help: 'Forgets all variables; asks first, unless -f is given.' },
  env: {
    line: '[NAME | NAME=value | -u NAME | --ask NAME]',
    help: 'Lists, shows, sets or unsets environment variables; --ask asks for a value that no notebook should hold.',
  },
  cd: { line: '[folder | -]', help: 'Changes the working directory, for imports too; - goes back.' },
  pwd: { line: '', help: 'Says what the working directory is.' },
  check: { line: '[error | warn | off]', help: 'Says what a type error does to a cell, or sets it.' },
  save: {
    line: '[-f] file [cells]',
    help: 'Writes cells that ran, by their numbers (2 4-6) or all, to a TypeScript file; -f replaces one that is there.',
  },
  install: {
    line: '[--yes] [--dev] [--scripts] name@version …',
    help: 'Installs packages by npm in the project of the notebook; asks first, unless --yes is given, and runs no scripts of theirs.',
  },
  sql: {
    cell: '[--to name]',
    help: 'Asks tables of db by SQL, with ${…} for values of the notebook; the result is _, or the name that is given.',
  },
  sh: { line: 'command', cell: '', help: 'Runs commands by your shell.' },
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
