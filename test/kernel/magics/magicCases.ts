import { magicNames, usagesOf } from '#session/magics/magicNames.ts';
import type { StandInPackage } from './registryStandIn.ts';

/** What a user sees of a cell in any program. */
export type MagicSeen = { out: string; err: string; value: string | null; error: string | null; asked: string[] };

/**
 * A cell with magics and its expected results. `answers` has the answer of the user if the cell prompts; an empty array
 * cancels the prompt.
 */
export type MagicCase = { cell: string; answers?: [string] | [] } & { [K in keyof MagicSeen]?: RegExp };

/** Returns a package for the stand-in of npm's registry, with a script that a user may not want. */
export const counting = (version: string, plus: number): StandInPackage => ({
  name: 'counting',
  version,
  files: {
    'package.json': JSON.stringify({
      name: 'counting',
      version,
      types: 'index.d.ts',
      scripts: { postinstall: "node -e \"require('fs').writeFileSync('ran', '')\"" },
    }),
    'index.js': `exports.count = (n) => n + ${plus};`,
    'index.d.ts': 'export declare function count(n: number): number;',
  },
});

/**
 * Settings of npm for the tests. They also replace settings of this project, which npm passes to its child processes
 * but which don't belong to a notebook.
 */
export const npmSettings = (registry: string, cache: string): Record<string, string> => ({
  npm_config_registry: registry,
  npm_config_cache: cache,
  npm_config_save_exact: 'false',
  npm_config_ignore_scripts: 'false',
});

const ran = `require('node:fs').existsSync('node_modules/counting/ran')`;

/** Every form and every option listed by `%help`, once, in this order in one notebook. */
export const magicCases = (registry: string, cache: string): readonly MagicCase[] => [
  { cell: '%help', out: /%time code[^]*\?name, name\?[^]*\?\?name, name\?\?/ },
  { cell: '%help env', out: /^%env \[NAME/ },
  { cell: '%time 6 * 7', out: /Wall time/, value: /^42$/ },
  { cell: '%%time\n6 * 8', out: /Wall time/, value: /^48$/ },
  { cell: '%timeit -n 2 -r 2 1 + 1', out: /2 runs, 2 loops each/ },
  { cell: '%%timeit -n 2 -r 2\n1 + 1', out: /2 runs, 2 loops each/ },
  { cell: 'let mine = 1\n%who', out: /^mine +number$/m },
  { cell: '%whos', out: /^mine +number +1$/m },
  { cell: '%reset', answers: [], error: /Use %reset -f to skip it/ },
  { cell: '%reset', answers: ['y'], asked: /Delete all variables/, out: /deleted/ },
  { cell: 'let other = 2' },
  { cell: '%reset -f', out: /^All variables are deleted/ },
  { cell: 'other', error: /Cannot find name 'other'/ },
  { cell: '%env MAGIC=1\n%env MAGIC', out: /^MAGIC=1$/m },
  { cell: '%env', out: /^MAGIC=1$/m },
  { cell: '%env -u MAGIC\nString(process.env.MAGIC)', value: /undefined/ },
  { cell: '%env --ask MAGIC_KEY\nprocess.env.MAGIC_KEY?.length', answers: ['hush'], asked: /MAGIC_KEY/, value: /^4$/ },
  { cell: '%cd /', out: /^\/$/m },
  { cell: '%cd -', out: /./ },
  { cell: '%pwd', out: /./ },
  { cell: '%check', out: /^error: / },
  { cell: '%check warn', out: /^warn: / },
  { cell: 'const loose: string = 3; loose', value: /^3$/, err: /Type 'number' is not assignable/ },
  { cell: '%check off', out: /^off: / },
  { cell: '%check error', out: /^error: /m },
  { cell: '%save saved 1', out: /1 cell is saved in .*saved\.ts$/m },
  { cell: '%save saved 1', error: /Use %save -f to replace it/ },
  { cell: '%save -f saved 1 2-3', out: /3 cells are saved in .*saved\.ts$/m },
  ...installing(registry, cache),
  { cell: '%sh echo out; exit 4', out: /^out$/m, error: /exit code 4/ },
  { cell: '%%sh\necho below', out: /^below$/m },
  { cell: `await db.createTable('magic', [{ price: 3 }, { price: 4 }])` },
  { cell: '%%sql\nselect count(*) as n from magic', value: /n\n/ },
  { cell: '%%sql --to priced\nselect sum(price) as total from magic', value: /total\n/ },
  { cell: 'priced.numRows', value: /^1$/ },
  { cell: '/** Adds one. */\nfunction plus(x: number) { return x + 1 }' },
  ...['?plus', 'plus?'].map((cell) => ({ cell, out: /function plus\(x: number\): number[^]*Adds one\./ })),
  ...['??plus', 'plus??'].map((cell) => ({ cell, out: /^declare function plus/m })),
];

const installing = (registry: string, cache: string): readonly MagicCase[] => [
  {
    cell: Object.entries(npmSettings(registry, cache))
      .map(([name, value]) => `%env ${name}=${value}`)
      .join('\n'),
  },
  { cell: '%install counting', answers: ['n'], asked: /^Install counting/, error: /Nothing was installed/ },
  {
    cell: '%install counting@1',
    answers: ['y'],
    asked: /^Install counting@1/,
    out: /counting 1\.0\.0 can be imported/,
  },
  { cell: 'import { count } from "counting"; count(1)', value: /^2$/ },
  { cell: `%install --yes --dev counting@1\n${ran}`, out: /can be imported/, value: /^false$/ },
  { cell: `%install --yes --scripts counting@2\n${ran}`, out: /counting 2\.0\.0/, value: /^true$/ },
];

/** Returns the forms and options listed by `%help` that no case uses. */
export function unwrittenMagics(cases: readonly MagicCase[]): string[] {
  const lines = cases.flatMap(({ cell }) => cell.split('\n'));
  return magicNames.flatMap(usagesOf).flatMap((usage) => {
    const [name = ''] = usage.split(' ');
    const written = lines.filter((line) => line.split(' ')[0] === name);
    if (written.length === 0) return [usage];
    const options = usage.match(/(?<=[[| ])--?[a-z]+/g) ?? [];
    return options
      .filter((option) => !written.some((line) => line.split(' ').includes(option)))
      .map((option) => `${name} ${option}`);
  });
}
