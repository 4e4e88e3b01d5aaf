import type { ComputedColumn, ComputedFunction } from '#shared/jobs/computedFunction.ts';
import type { ColumnInfo } from '#shared/protocol/webviewMessages.ts';
import type { Ask, PickStep, Question } from '../../host/askStep.ts';
import type { FunctionSource } from '#shared/jobs/jobMessages.ts';
import { messageIn } from '#shared/nextSteps.ts';
import type { Choice } from '../../host/ask.ts';
import { type ColumnChoice, columnChoices, exampleOf, nameProblem, nameWarning } from './columnChoices.ts';

/** Reads and bundles a function without running it. @throws JobError if the function is not valid */
export type ReadFunction = (source: FunctionSource, signal: AbortSignal) => Promise<ComputedFunction>;

type FunctionKind = 'stored' | 'sql' | 'typescript' | 'python';

/** Returns the kinds of functions for a column. The first one is the function that is stored with the table, if any. */
function functionChoices(choice: ColumnChoice, columns: readonly ColumnInfo[]): readonly Choice<FunctionKind>[] {
  const stored = choice.kind === 'computed' ? choice.computed : undefined;
  return [
    ...(stored
      ? [
          {
            label: `Function "${stored.function.name}" stored with the table`,
            description: `by ${stored.author}`,
            icon: 'symbol-function',
            value: 'stored' as const,
          },
        ]
      : []),
    {
      label: 'SQL Expression…',
      description: exampleOf(columns).expression,
      icon: 'symbol-operator',
      value: 'sql',
    },
    { label: 'TypeScript File…', description: 'exports udf(…)', icon: 'file-code', value: 'typescript' },
    { label: 'Python File…', description: 'defines a function', icon: 'snake', value: 'python' },
  ];
}

/** Returns the prompt for an SQL expression, which shows its errors or its input columns while the user types. */
function sqlQuestion(
  column: string,
  columns: readonly ColumnInfo[],
  read: ReadFunction,
  onMade: (made: ComputedFunction) => void,
): Question {
  return {
    title: `SQL expression for "${column}"`,
    prompt: `Columns: ${columns.map(({ name }) => name).join(', ')}`,
    placeHolder: exampleOf(columns).expression,
    check: (typed) => (typed.trim() === '' ? 'Write an expression.' : undefined),
    look: async (expression, signal) => {
      try {
        const { inputs } = await read({ kind: 'sql', expression }, signal);
        return { note: inputs.length === 0 ? 'Reads no columns.' : `Reads ${inputs.join(', ')}.` };
      } catch (error) {
        return { problem: messageIn('editor', error) };
      }
    },
    accept: async (expression, signal) => onMade(await read({ kind: 'sql', expression }, signal)),
  };
}

/** Where the wizard goes after a step. `undefined` means that the user cancelled. */
export type StepResult = 'next' | 'back' | undefined;
export type StepNumber = { readonly number: number; readonly of: number };

export type BackfillWizardDeps = {
  readonly ask: Ask;
  readonly pick: PickStep;
  /** Reads a function for a column. */
  readonly read: (column: string, ...args: Parameters<ReadFunction>) => ReturnType<ReadFunction>;
  /** Asks for the function of a column in a file. Returns `undefined` if the user cancels. */
  readonly askFile: (
    kind: 'typescript' | 'python',
    column: ColumnChoice,
    columns: readonly ColumnInfo[],
    read: ReadFunction,
  ) => Promise<ComputedFunction | undefined>;
  /** Refuses a column that no function of the user can compute. @throws JobError */
  readonly checkColumn: (column: ColumnChoice) => void;
  /** The last step: plans the backfill and asks where to run it. */
  readonly plan: (chosen: BackfillChoice, step: StepNumber) => Promise<StepResult>;
};

export type BackfillChoice = {
  readonly column: ColumnChoice;
  /** `stored` means the function that is stored with the table. */
  readonly made: ComputedFunction | 'stored';
};

type Table = {
  /** Name for titles. */
  readonly name: string;
  readonly columns: readonly ColumnInfo[];
  readonly computed: readonly ComputedColumn[];
  /** The column that the user has already selected. */
  readonly pointed: string | undefined;
};

/** What the user has chosen so far; "Back" keeps it. */
type Draft = {
  readonly isNew: boolean;
  readonly column: ColumnChoice | undefined;
  readonly name: string;
  readonly kind: FunctionKind | undefined;
  readonly expression: string;
  readonly made: ComputedFunction | undefined;
};

type StepName = 'column' | 'name' | 'kind' | 'function' | 'plan';

/**
 * Prompts for the column, function and runner of a backfill, one step each; "Back" keeps what was entered.
 * @returns false if the user cancels
 */
export async function askBackfill(table: Table, deps: BackfillWizardDeps): Promise<boolean> {
  const choices = columnChoices(table.columns, table.computed);
  const found = choices.find(({ value }) => value !== 'new' && value.name === table.pointed)?.value;
  const pointed = found === 'new' ? undefined : found;
  if (pointed) deps.checkColumn(pointed);
  let draft: Draft = {
    isNew: false,
    column: pointed,
    name: '',
    kind: undefined,
    expression: '',
    made: undefined,
  };
  const set = (change: Partial<Draft>): void => void (draft = { ...draft, ...change });
  // Until the user has chosen a column and a function, all steps count.
  const order = (): readonly StepName[] => [
    ...(pointed ? [] : (['column'] as const)),
    ...(draft.isNew || !draft.column ? (['name'] as const) : []),
    'kind',
    ...(draft.kind === 'stored' ? [] : (['function'] as const)),
    'plan',
  ];

  const steps: Record<StepName, (step: StepNumber) => Promise<StepResult>> = {
    column: async (step) => {
      const answer = await deps.pick({ title: `Select the column of ${table.name} to backfill`, step, choices });
      if (answer === undefined || answer === 'back') return answer;
      const { value, typed = '' } = answer;
      if (value !== 'new') deps.checkColumn(value);
      set(
        value === 'new'
          ? { isNew: true, column: undefined, kind: undefined, ...(typed !== '' && { name: typed }) }
          : { isNew: false, column: value, kind: undefined },
      );
      return 'next';
    },
    name: async (step) => {
      const answer = await deps.ask({
        title: `New column of ${table.name}`,
        step,
        prompt: 'Name of the column. The backfill adds the column when it starts.',
        placeHolder: exampleOf(table.columns).name,
        value: draft.name,
        check: (typed) => nameProblem(typed, table.columns),
        warn: nameWarning,
      });
      if (answer === undefined || answer === 'back') return answer;
      if (answer === 'more') return 'next';
      set({ name: answer.value, column: { kind: 'new', name: answer.value } });
      return 'next';
    },
    kind: async (step) => {
      const column = draft.column!;
      const title = `Select the function that computes "${column.name}"`;
      const answer = await deps.pick({ title, step, choices: functionChoices(column, table.columns) });
      if (answer === undefined || answer === 'back') return answer;
      set({ kind: answer.value });
      return 'next';
    },
    function: async (step) => {
      const column = draft.column!;
      const read: ReadFunction = (...args) => deps.read(column.name, ...args);
      if (draft.kind === 'typescript' || draft.kind === 'python') {
        const made = await deps.askFile(draft.kind, column, table.columns, read);
        // The dialog for a file has no "Back", so its cancellation returns to the kinds of functions.
        if (!made) return 'back';
        set({ made });
        return 'next';
      }
      const question = sqlQuestion(column.name, table.columns, read, (made) => set({ made }));
      const answer = await deps.ask({ ...question, step, value: draft.expression });
      if (answer === undefined || answer === 'back') return answer;
      if (answer !== 'more') set({ expression: answer.value });
      return 'next';
    },
    plan: (step) => deps.plan({ column: draft.column!, made: draft.kind === 'stored' ? 'stored' : draft.made! }, step),
  };

  for (let at = 0; ;) {
    const names = order();
    const name = names[at];
    if (name === undefined) return true;
    const result = await steps[name]({ number: at + 1, of: names.length });
    if (result === undefined) return false;
    at = result === 'back' ? Math.max(0, at - 1) : at + 1;
  }
}
