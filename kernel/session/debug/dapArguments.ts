import { isRecord } from '#shared/records.ts';
import type { WantedBreakpoint } from './breakpoints.ts';
import { DebugProblem } from './debugProblem.ts';
import { maxParts, type Wanted } from './debugVariables.ts';

// What a front sends is checked here, before anything looks into it.

export type Arguments = Record<string, unknown>;

/** @throws DebugProblem naming what is missing */
export function textIn(given: Arguments, name: string): string {
  const value = given[name];
  if (typeof value !== 'string') throw new DebugProblem(`The request has no text "${name}".`);
  return value;
}

/** @throws DebugProblem naming what is missing */
export function numberIn(given: Arguments, name: string): number {
  const value = given[name];
  if (typeof value !== 'number') throw new DebugProblem(`The request has no number "${name}".`);
  return value;
}

/** @throws DebugProblem when no source is named */
export function pathIn(given: Arguments): string {
  const source = given['source'];
  return textIn(isRecord(source) ? source : given, 'path');
}

/** The front's own name for the cell that a source is, where it gives one: cells of the same text have the same path. */
export function cellIn({ source }: Arguments): string | undefined {
  const data = isRecord(source) ? source['adapterData'] : undefined;
  const cell = isRecord(data) ? data['cell'] : undefined;
  return typeof cell === 'string' ? cell : undefined;
}

/** The breakpoints that are wanted. @param lineBase,columnBase what the front counts from */
export function breakpointsIn(given: Arguments, lineBase: number, columnBase: number): WantedBreakpoint[] {
  const all: unknown = given['breakpoints'];
  if (!Array.isArray(all)) return [];
  return all.filter(isRecord).map((each): WantedBreakpoint => {
    const { condition, hitCondition, logMessage, column } = each;
    return {
      line: numberIn(each, 'line') + 1 - lineBase,
      ...(typeof column === 'number' && { column: column + 1 - columnBase }),
      ...(typeof condition === 'string' && condition.trim() !== '' && { condition }),
      ...(typeof hitCondition === 'string' && { hitCondition }),
      ...(typeof logMessage === 'string' && logMessage !== '' && { logMessage }),
    };
  });
}

/** Which parts of a value are wanted; all that fit when a front does not page. */
export function wantedIn({ filter, start, count }: Arguments): Wanted {
  const isPaged = filter === 'indexed' || filter === 'named';
  return {
    ...(isPaged && { filter }),
    start: typeof start === 'number' ? start : 0,
    count: typeof count === 'number' && count > 0 ? count : maxParts,
  };
}
