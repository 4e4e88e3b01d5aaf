import { messageOf } from '#shared/errors.ts';
import type { Breakpoint, Breakpoints } from './breakpoints.ts';
import type { HitBreakpoint } from './breakpoints.ts';
import type { Frame } from './frames.ts';
import type { Pause } from './pause.ts';
import { textOf } from './remoteText.ts';

/** Why the code stands still, as fronts are told. */
export type Stop = {
  reason: 'breakpoint' | 'exception' | 'step' | 'pause';
  /** In a few words. */
  description: string;
  /** More of it: the exception. */
  text?: string;
  /** The breakpoints that it stands at. */
  ids?: number[];
};

type Asked = { step: Step | undefined; isPauseAsked: boolean };
type Log = (text: string, frame: Frame) => void;

/** Whether a pause of V8 is one for the person; undefined when the code shall go on. */
export async function judge(pause: Pause, all: Breakpoints, asked: Asked, log: Log): Promise<Stop | undefined> {
  const [top] = pause.frames;
  if (!top) return undefined;
  const here = all.placed.at(pause.event.hitBreakpoints);
  const ids: number[] = [];
  for (const hit of here) if (await counts(hit, { pause, frame: top, all, log })) ids.push(hit.breakpoint.id);
  if (ids.length > 0) return { reason: 'breakpoint', description: 'Paused at a breakpoint', ids };
  if (isThrow(pause)) return exceptionAt(pause);
  const isOwn = top.script !== undefined && !top.isAdded;
  if (!isOwn) return undefined;
  if (asked.step !== undefined) return { reason: 'step', description: 'Paused after a step' };
  if (asked.isPauseAsked) return { reason: 'pause', description: 'Paused' };
  if (here.length > 0) return undefined;
  return { reason: 'breakpoint', description: 'Paused at a debugger statement' };
}

type At = { pause: Pause; frame: Frame; all: Breakpoints; log: Log };

async function counts({ breakpoint, isConditional }: HitBreakpoint, at: At): Promise<boolean> {
  const { condition, logMessage } = breakpoint;
  const { pause, frame, log } = at;
  // V8 looks at a condition itself except for the first time, since it says nothing of one that fails.
  if (condition !== undefined && !isConditional && !(await holds(condition, breakpoint, at))) return false;
  if (!breakpoint.isHit()) return false;
  if (logMessage === undefined) return true;
  log(`${await filledIn(logMessage, pause, frame)}\n`, frame);
  return false;
}

/** A condition that fails is told, once, and does not hold: it would stop at each round of a loop. */
async function holds(condition: string, breakpoint: Breakpoint, { pause, frame, all, log }: At): Promise<boolean> {
  try {
    await all.placed.makeConditional(breakpoint, await pause.conditionAt(frame, condition));
    const { value } = await pause.evaluate(frame, `!!(${condition})`);
    return value === true;
  } catch (error) {
    const { line } = breakpoint.told;
    const why = `The condition of the breakpoint on line ${line} failed: ${messageOf(error)}\n`;
    if (!breakpoint.hasFailed) log(why, frame);
    breakpoint.hasFailed = true;
    return false;
  }
}

/** A message with the values of what it has in braces. */
async function filledIn(message: string, pause: Pause, frame: Frame): Promise<string> {
  let text = '';
  let end = 0;
  for (const found of message.matchAll(/\{([^{}]+)\}/g)) {
    const [whole, expression = ''] = found;
    text += message.slice(end, found.index) + (await valueIn(expression, pause, frame));
    end = found.index + whole.length;
  }
  return text + message.slice(end);
}

async function valueIn(expression: string, pause: Pause, frame: Frame): Promise<string> {
  try {
    const value = await pause.evaluate(frame, expression);
    return value.type === 'string' ? String(value.value) : textOf(value);
  } catch (error) {
    return `{${messageOf(error)}}`;
  }
}

/** What was thrown, as fronts ask for it. */
export function thrownAt(pause: Pause): { id: string; description: string; isUncaught: boolean } | undefined {
  if (!isThrow(pause)) return undefined;
  const { className, description, value, uncaught } = (pause.event.data ?? {}) as Record<string, unknown>;
  const said = typeof description === 'string' ? description : String(value);
  return { id: typeof className === 'string' ? className : 'Error', description: said, isUncaught: uncaught === true };
}

const isThrow = ({ event: { reason } }: Pause): boolean => reason === 'exception' || reason === 'promiseRejection';

function exceptionAt(pause: Pause): Stop | undefined {
  const thrown = thrownAt(pause);
  // One that a package throws and catches says nothing about the person's code.
  if (!thrown || (!thrown.isUncaught && pause.frames[0]?.script === undefined)) return undefined;
  const [text = ''] = thrown.description.split('\n', 1);
  return { reason: 'exception', description: 'Paused on an exception', text };
}

export const steps = { next: 'Debugger.stepOver', stepIn: 'Debugger.stepInto', stepOut: 'Debugger.stepOut' } as const;

export type Step = keyof typeof steps;
