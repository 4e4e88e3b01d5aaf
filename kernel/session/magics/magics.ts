import { messageOf } from '#shared/errors.ts';
import type { CellOutcome } from '#session/run/cellRunner.ts';
import { alone, partsOf, type CellPart, type MagicPart, type QuestionPart } from './cellParts.ts';
import { help, helpOf, known } from './help.ts';
import { install } from './install.ts';
import { formOf, usagesOf, type MagicName } from './magicNames.ts';
import { MagicError, nothing, type MagicDeps, type MagicRun } from './magicTypes.ts';
import { check, reset, who, whos } from './notebookState.ts';
import { CellTexts, saver } from './save.ts';
import { sh } from './shell.ts';
import { sqlMagic } from './sqlMagic.ts';
import { cd, env, pwd } from './environment.ts';
import { time, timeit } from './timing.ts';

export type Magics = {
  /** Runs a cell with magics or questions, part by part; undefined if the cell is only code. */
  run(source: string, count: number): Promise<CellOutcome> | undefined;
};

export function createMagics(parts: MagicDeps): Magics {
  const texts = new CellTexts();
  const runs: Record<MagicName, MagicRun> = {
    help,
    time,
    timeit,
    who,
    whos,
    reset,
    env,
    cd,
    pwd,
    check,
    save: saver(texts),
    install,
    sql: sqlMagic(),
    sh,
  };
  async function runAll(all: readonly CellPart[], source: string, count: number): Promise<CellOutcome> {
    const signal = parts.signal();
    let last = nothing;
    for (const part of all) {
      last = await runPart(part, { source, count, signal });
      // An interrupted part may still finish later. Then the parts after it must not run.
      if (last.error || signal.aborted) break;
    }
    return last;
  }

  async function runPart(part: CellPart, at: Place): Promise<CellOutcome> {
    if (part.kind === 'code') return parts.runner.run(alone(at.source, part), at.count);
    const label = part.kind === 'magic' ? `${part.isCell ? '%%' : '%'}${part.name}` : `?${part.about}`;
    try {
      return part.kind === 'magic' ? await runMagic(part, at) : await answer(part, parts);
    } catch (error) {
      return { value: undefined, error: magicError(label, error) };
    }
  }

  async function runMagic(part: MagicPart, { source, count, signal }: Place): Promise<CellOutcome> {
    const name = known(part.name);
    checkForm(part, name);
    const rest = source.slice(part.rest.start, part.rest.end).trim();
    const body = part.body && source.slice(part.body.start, part.body.end);
    return (await runs[name]({ name, rest, body, source, code: part.code, count, signal }, parts)) ?? nothing;
  }

  return {
    run(source, count) {
      texts.add(count, source);
      const all = partsOf(source);
      if (!all) return undefined;
      return runAll(all, source, count);
    },
  };
}

type Place = { source: string; count: number; signal: AbortSignal };

function checkForm(part: MagicPart, name: MagicName): void {
  const { line, cell } = formOf(name);
  const usage = usagesOf(name).join(' or ');
  if (part.isCell ? cell === undefined : line === undefined) throw new MagicError(`Use ${usage}.`);
  if (part.isCell && !part.body) throw new MagicError('It must be on the first line of a separate cell.');
}

async function answer({ about, detail }: QuestionPart, { describe }: MagicDeps): Promise<CellOutcome> {
  const text = about.startsWith('%')
    ? helpOf(known(about.replace(/^%+/, '')))
    : await describe(about, about.length, detail);
  if (text === undefined) throw new MagicError(`"${about}" does not exist in this notebook. Run %who for a list.`);
  process.stdout.write(`${text}\n`);
  return nothing;
}

function magicError(label: string, error: unknown): CellOutcome['error'] {
  const ename = error instanceof Error ? error.name : 'Error';
  const evalue = `${label}: ${messageOf(error)}`;
  const cause = error instanceof MagicError && !isTold(error.cause) ? [`Caused by ${messageOf(error.cause)}`] : [];
  return { ename, evalue, traceback: [`${ename}: ${evalue}`, ...cause] };
}

/** Whether the message of a magic's error already contains the cause, as for system errors. */
const isTold = (cause: unknown): boolean =>
  cause === undefined || (cause instanceof Error && 'syscall' in cause && 'code' in cause);
