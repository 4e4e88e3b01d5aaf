import { messageOf } from '#shared/errors.ts';
import type { Breakpoint, Breakpoints, HitBreakpoint } from './breakpoints.ts';
import type { Frame } from './frames.ts';
import type { Pause } from './pause.ts';
import { formatRemoteObject } from './remoteText.ts';

/** Why execution is paused, as sent to the client. */
export type Stop = {
  reason: 'breakpoint' | 'exception' | 'step' | 'pause';
  description: string;
  /** Details of the reason: the message of an exception. */
  text?: string;
  /** The breakpoints at which execution is paused. */
  ids?: number[];
};

type Asked = { step: Step | undefined; isPauseAsked: boolean };
type Log = (text: string, frame: Frame) => void;

/** Decides whether a pause of V8 is shown to the user; undefined if the code continues. */
export async function classifyPause(pause: Pause, all: Breakpoints, asked: Asked, log: Log): Promise<Stop | undefined> {
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
  // The first time, the debugger itself evaluates the condition, because V8 ignores a condition that throws, and the
  // user must see the error.
  if (condition !== undefined && !isConditional && !(await holds(condition, breakpoint, at))) return false;
  if (!breakpoint.isHit()) return false;
  if (logMessage === undefined) return true;
  log(`${await filledIn(logMessage, pause, frame)}\n`, frame);
  return false;
}

/**
 * Evaluates a condition. If the condition throws, the error is reported once and the condition counts as false. If it
 * counted as true, each iteration of a loop would pause.
 */
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

/** Fills in a log message: expressions in braces become their values. */
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
    return value.type === 'string' ? String(value.value) : formatRemoteObject(value);
  } catch (error) {
    return `{${messageOf(error)}}`;
  }
}

/** Returns the exception of a pause, as `exceptionInfo` reports it. */
export function thrownAt(pause: Pause): { id: string; description: string; isUncaught: boolean } | undefined {
  if (!isThrow(pause)) return undefined;
  const { className, description, value, uncaught } = (pause.event.data ?? {}) as Record<string, unknown>;
  const said = typeof description === 'string' ? description : String(value);
  return { id: typeof className === 'string' ? className : 'Error', description: said, isUncaught: uncaught === true };
}

const isThrow = ({ event: { reason } }: Pause): boolean => reason === 'exception' || reason === 'promiseRejection';

function exceptionAt(pause: Pause): Stop | undefined {
  const thrown = thrownAt(pause);
  // An exception that a package throws and catches is not shown, because it is unrelated to the user's code.
  if (!thrown || (!thrown.isUncaught && pause.frames[0]?.script === undefined)) return undefined;
  const [text = ''] = thrown.description.split('\n', 1);
  return { reason: 'exception', description: 'Paused on an exception', text };
}

export const steps = { next: 'Debugger.stepOver', stepIn: 'Debugger.stepInto', stepOut: 'Debugger.stepOut' } as const;

export type Step = keyof typeof steps;
