import type { DebugProtocol } from '@vscode/debugprotocol';
import type { Debugger } from 'node:inspector';
import { isDeepStrictEqual } from 'node:util';
import type { DebugScripts, UserScript } from './debugScripts.ts';
import type { InspectorLink } from './inspectorLink.ts';
import type { MainHook } from './mainHook.ts';
import type { Place } from './positions.ts';

const form = /^\s*(?<operator>>=|<=|={1,3}|[><%])?\s*(?<count>\d+)\s*$/;

/**
 * Parses a hit condition: `5` or `== 5` for the fifth hit, `> 5`, `>= 5`, `< 5`, `<= 5`, and `% 5` for every fifth.
 * @returns a function to call at each hit, which returns whether the hit counts; undefined if the condition is invalid
 */
export function hitTest(condition: string | undefined): (() => boolean) | undefined {
  if (condition === undefined || condition.trim() === '') return () => true;
  const { operator = '==', count } = form.exec(condition)?.groups ?? {};
  if (count === undefined) return undefined;
  const limit = Number(count);
  let hits = 0;
  return () => {
    hits++;
    switch (operator) {
      case '>':
        return hits > limit;
      case '>=':
        return hits >= limit;
      case '<':
        return hits < limit;
      case '<=':
        return hits <= limit;
      case '%':
        return limit > 0 && hits % limit === 0;
      default:
        return hits === limit;
    }
  };
}

/**
 * The breakpoints at one location. V8 refuses a second breakpoint at a location, so two breakpoints of a client on one
 * line share one breakpoint of V8.
 */
type Placed = {
  location: Debugger.Location;
  breakpoints: Breakpoint[];
  /** Whether V8 itself evaluates the condition. */
  isConditional: boolean;
};

/** A breakpoint that was reached. If `isConditional` is true, V8 has already checked the condition. */
export type HitBreakpoint = { breakpoint: Breakpoint; isConditional: boolean };

/** The breakpoints that are set in V8, by V8's ids. */
class V8Breakpoints {
  readonly #link: InspectorLink;
  readonly #all = new Map<string, Placed>();

  constructor(link: InspectorLink) {
    this.#link = link;
  }

  /** Returns the breakpoints that a pause of V8 names. */
  at(ids: readonly string[] = []): HitBreakpoint[] {
    return ids.flatMap((id) => {
      const { breakpoints = [], isConditional = false } = this.#all.get(id) ?? {};
      return breakpoints.map((breakpoint) => ({ breakpoint, isConditional }));
    });
  }

  async set(breakpoint: Breakpoint, location: Debugger.Location): Promise<void> {
    const there = [...this.#all.values()].find((each) => isDeepStrictEqual(each.location, location));
    if (there) return void there.breakpoints.push(breakpoint);
    const { breakpointId } = await this.#link.call('Debugger.setBreakpoint', { location });
    this.#all.set(breakpointId, { location, breakpoints: [breakpoint], isConditional: false });
    return undefined;
  }

  /** Removes these breakpoints. A breakpoint at the same location of another cell with the same text is kept. */
  async remove(breakpoints: readonly Breakpoint[]): Promise<void> {
    for (const [breakpointId, placed] of this.#all) {
      const rest = placed.breakpoints.filter((each) => !breakpoints.includes(each));
      const isMore = rest.length > 0 && !placed.isConditional;
      if (isMore) placed.breakpoints = rest;
      if (isMore || rest.length === placed.breakpoints.length) continue;
      this.#all.delete(breakpointId);
      await this.#link.call('Debugger.removeBreakpoint', { breakpointId });
    }
  }

  /**
   * Lets V8 evaluate the condition from now on, because a pause to evaluate the condition here takes a thousand times
   * as long.
   */
  async makeConditional(breakpoint: Breakpoint, condition: string): Promise<void> {
    for (const [breakpointId, { location, breakpoints, isConditional }] of this.#all) {
      // Skips a location with two breakpoints, because they may have different conditions and V8 takes only one.
      if (isConditional || breakpoints.length !== 1 || breakpoints[0] !== breakpoint) continue;
      this.#all.delete(breakpointId);
      await this.#link.call('Debugger.removeBreakpoint', { breakpointId });
      const placed = await this.#link.call('Debugger.setBreakpoint', { location, condition });
      this.#all.set(placed.breakpointId, { location, breakpoints, isConditional: true });
    }
  }
}

/** A breakpoint as a client requests it; line and column count from 1. */
export type RequestedBreakpoint = DebugProtocol.SourceBreakpoint;

/** A breakpoint as reported to the client. */
type DapBreakpoint = DebugProtocol.Breakpoint & { id: number; line: number };

export type Breakpoint = RequestedBreakpoint & {
  id: number;
  told: DapBreakpoint;
  /** Called at each hit; returns whether the hit counts. */
  isHit: () => boolean;
  /** Whether the hit condition is invalid, so that the breakpoint is never set. */
  isRefused: boolean;
  /** Whether a failure of the condition was reported. A failure is reported once. */
  hasFailed: boolean;
};

/** A location where V8 can pause, in the generated code and in the user's. */
type Breakable = { generated: Place; original: Place };

type BreakpointDeps = {
  link: InspectorLink;
  hook: MainHook;
  scripts: DebugScripts;
  changed: (breakpoint: DapBreakpoint) => void;
};

/** The breakpoints of all sources. They are kept by source and set in each script of the source. */
export class Breakpoints {
  readonly #parts: BreakpointDeps;
  readonly placed: V8Breakpoints;
  /**
   * Breakpoints by source, and within a source by the client's id of the cell, because cells with the same text have
   * the same source.
   */
  readonly #sources = new Map<string, Map<string | undefined, Breakpoint[]>>();
  #nextId = 1;

  constructor(parts: BreakpointDeps) {
    this.#parts = parts;
    this.placed = new V8Breakpoints(parts.link);
  }

  /** Returns the breakpoints of all sources in the form of `debugInfo`. */
  list(): { source: string; breakpoints: { line: number }[] }[] {
    return [...this.#sources]
      .map(([source, cells]) => ({
        source,
        breakpoints: [...cells.values()].flat().map(({ told: { line } }) => ({ line })),
      }))
      .filter(({ breakpoints }) => breakpoints.length > 0);
  }

  /** Replaces the breakpoints of a source. With `cell`, replaces only the breakpoints of this cell. */
  async set(path: string, wanted: readonly RequestedBreakpoint[], cell?: string): Promise<DapBreakpoint[]> {
    const { scripts } = this.#parts;
    const cells = this.#sources.get(path) ?? new Map<string | undefined, Breakpoint[]>();
    const before = cells.get(cell) ?? [];
    const breakpoints = wanted.map((each) => this.#make(each));
    this.#sources.set(path, cells.set(cell, breakpoints));
    await this.placed.remove(before);
    const loaded = scripts.byPath(path).filter((script) => isOf(script, cell));
    for (const script of loaded) await this.#placeAll(breakpoints, script);
    if (loaded.length === 0) await this.#foresee(path, breakpoints);
    return breakpoints.map(({ told }) => told);
  }

  /** Sets the breakpoints of a script that was loaded and has not started to run. */
  async place(script: UserScript): Promise<void> {
    const cells = [...(this.#sources.get(script.path) ?? [])];
    const breakpoints = cells.flatMap(([cell, its]) => (isOf(script, cell) ? its : []));
    if (breakpoints.length === 0) return;
    const before = breakpoints.map(({ told }) => told);
    await this.#placeAll(breakpoints, script);
    breakpoints.forEach(({ told }, index) => {
      const was = before[index];
      if (was?.line !== told.line || was.verified !== told.verified) this.#parts.changed(told);
    });
  }

  #make(wanted: RequestedBreakpoint): Breakpoint {
    const id = this.#nextId++;
    const isHit = hitTest(wanted.hitCondition);
    const { line } = wanted;
    const message = `Expected a hit count, got "${wanted.hitCondition}". Use 5, >= 5, or % 5 for every fifth hit.`;
    const told = isHit ? { id, verified: true, line } : { id, verified: false, line, message };
    return { ...wanted, id, told, isHit: isHit ?? (() => false), isRefused: !isHit, hasFailed: false };
  }

  async #placeAll(breakpoints: readonly Breakpoint[], script: UserScript): Promise<void> {
    const breakable = await this.#breakableOf(script);
    for (const breakpoint of breakpoints) {
      const { id } = breakpoint;
      if (breakpoint.isRefused) continue;
      const found = nearest(breakable, breakpoint);
      breakpoint.told = found
        ? { id, verified: true, line: found.original.line + 1, column: found.original.column + 1 }
        : { id, verified: false, line: breakpoint.line, message: noCode };
      if (!found) continue;
      const { line: lineNumber, column: columnNumber } = found.generated;
      await this.placed.set(breakpoint, { scriptId: script.id, lineNumber, columnNumber });
    }
  }

  async #breakableOf(script: UserScript): Promise<Breakable[]> {
    const start = { scriptId: script.id, lineNumber: 0, columnNumber: 0 };
    const [{ locations }, positions] = await Promise.all([
      this.#parts.link.call('Debugger.getPossibleBreakpoints', { start }),
      script.positions(),
    ]);
    return locations.flatMap(({ lineNumber: line, columnNumber: column = 0 }) => {
      const original = positions.original({ line, column });
      return original ? [{ generated: { line, column }, original }] : [];
    });
  }

  /** Predicts the lines of breakpoints in a cell that has not run, from its text. */
  async #foresee(path: string, breakpoints: readonly Breakpoint[]): Promise<void> {
    const code = this.#parts.scripts.textOf(path);
    if (code === undefined) return;
    const lines = await this.#parts.hook.compiled((hook) => hook.value('linesOf', code)).catch(() => undefined);
    if (!lines) return;
    for (const breakpoint of breakpoints) {
      const { id, told } = breakpoint;
      if (breakpoint.isRefused) continue;
      const line = lines.find((each) => each >= breakpoint.line);
      breakpoint.told =
        line === undefined ? { ...told, verified: false, message: noCode } : { id, verified: true, line };
    }
  }
}

/**
 * Whether a script may be a run of this cell. A script without a cell, such as a run from the history, may belong to
 * any cell.
 */
const isOf = ({ cell: run }: UserScript, cell: string | undefined): boolean =>
  cell === undefined || run?.cell === undefined || run.cell === cell;

const noCode = 'There is no code on this line or below it.';

/** Returns the first location on the requested line, or on the next line below that has a location. */
function nearest(all: readonly Breakable[], { line, column = 1 }: RequestedBreakpoint): Breakable | undefined {
  const below = all.filter(({ original }) => original.line + 1 >= line);
  const first = Math.min(...below.map(({ original }) => original.line));
  const onLine = below.filter(({ original }) => original.line === first);
  const behind = onLine.filter(({ original }) => original.line + 1 > line || original.column + 1 >= column);
  return behind[0] ?? onLine.at(-1);
}
