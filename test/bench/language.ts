import { LanguageProcess } from '#processes/languageProcess.ts';
import type { Finding } from '#shared/protocol/languageMessages.ts';
import { inRoot } from '../../scripts/paths.ts';
import { processMemory } from '../harness/processMemory.ts';
import { tempFolder } from '../harness/temp.ts';
import { lineOf, median, type Figure } from './report.ts';

export type LanguageBenchOptions = {
  /** Number of measured workers. */
  runs: number;
  say: (line: string) => void;
};

const letters = 20;
const notebook = 'bench';

/** A typical notebook: imports are in the first cell, and each cell uses names of earlier cells. */
const cells = [
  "import { tableFromArrays } from 'apache-arrow';\nimport { join } from 'node:path';",
  "const events = await db.openTable('events');\nconst schema = await events.schema();",
  'const names = schema.fields.map((field) => field.name);',
  'let first = 1;',
  ...Array.from({ length: 10 }, (_, i) => {
    const before = i === 0 ? 'first' : `value${i - 1}`;
    return `const value${i} = ${before};\nclass Row${i} { at = value${i} }\nconst made${i} = names.map((name) => new Row${i}());`;
  }),
  'value9.toFixed();',
  '',
];

/** Times and memory of one worker, in milliseconds and bytes. */
type Life = { ready: number; first: number; later: number; hover: number; recheck: number; memory: number };

/** Measures the time from a change in a cell to the result of the worker that VS Code starts. */
export async function benchLanguage({ runs, say }: LanguageBenchOptions): Promise<Figure[]> {
  const lives: Life[] = [];
  for (let i = 0; i < runs; i++) lives.push(await live());
  const of = (read: (life: Life) => number): number => median(lives.map(read));
  const figures: Figure[] = [
    { name: 'start → listens', unit: 'ms', value: of((life) => life.ready), goal: 500 },
    { name: 'start → first completion of db.', unit: 'ms', value: of((life) => life.first), goal: 1500 },
    { name: 'a letter typed → completion of db.', unit: 'ms', value: of((life) => life.later), goal: 50 },
    { name: 'hover', unit: 'ms', value: of((life) => life.hover), goal: 50 },
    {
      name: `edit → ${cells.length} cells checked, 150 of it waiting`,
      unit: 'ms',
      value: of((life) => life.recheck),
      goal: 400,
    },
    { name: 'memory of the worker', unit: 'MB', value: of((life) => life.memory) / 1e6, goal: 350 },
  ];
  for (const figure of figures) say(lineOf(figure));
  return figures;
}

async function live(): Promise<Life> {
  const begun = performance.now();
  const heard: { by?: (cell: string, findings: Finding[]) => void } = {};
  const worker = await LanguageProcess.start({
    entry: inRoot('dist/languageWorker.cjs'),
    node: { path: process.execPath, env: {}, version: process.versions.node },
    onFindings: (_, cell, findings) => heard.by?.(cell, findings),
  });
  try {
    const ready = performance.now() - begun;
    const last = cells.length - 1;
    const type = (index: number, text: string) => worker.tell('text', { notebook, cell: String(index), text });
    const complete = async (text: string): Promise<void> => {
      type(last, text);
      const { items } = await worker.request('complete', { notebook, cell: String(last), offset: text.length });
      if (!items.some(({ name }) => name === 'openTable')) throw new Error('The completion has no openTable.');
    };
    worker.tell('cells', {
      notebook,
      folder: tempFolder(),
      language: 'typescript',
      cells: cells.map((text, i) => ({ id: String(i), text })),
    });
    await complete('db.');
    const first = performance.now() - begun;
    const later: number[] = [];
    const hovers: number[] = [];
    for (let i = 0; i < letters; i++) {
      const typed = performance.now();
      await complete(`${' '.repeat(i)}db.`);
      later.push(performance.now() - typed);
      const asked = performance.now();
      await worker.request('hover', { notebook, cell: '14', offset: 2 });
      hovers.push(performance.now() - asked);
    }
    const rechecks: number[] = [];
    for (let i = 0; i < 6; i++) {
      const checked = new Promise<void>((resolve) => {
        // Whether the last cell has an error depends on a type in an early cell.
        heard.by = (cell, findings) => {
          if (cell === '14' && findings.some(({ severity }) => severity === 'error') === (i % 2 === 0)) resolve();
        };
      });
      const edited = performance.now();
      type(3, i % 2 === 0 ? "let first = 'text';" : 'let first = 1;');
      await checked;
      rechecks.push(performance.now() - edited);
    }
    const memory = processMemory(worker.pid ?? 0, 'now');
    return { ready, first, later: median(later), hover: median(hovers), recheck: median(rechecks), memory };
  } finally {
    worker.dispose();
  }
}
