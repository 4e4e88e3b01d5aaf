import type { Debugger } from 'node:inspector';
import { isDeepStrictEqual } from 'node:util';
import type { Breakpoint } from './breakpoints.ts';
import type { InspectorLink } from './inspectorLink.ts';

/** What is set at one place. V8 refuses a second one there, so two of one line share it. */
type Placed = {
  location: Debugger.Location;
  breakpoints: Breakpoint[];
  /** Whether V8 looks at the condition itself. */
  isConditional: boolean;
};

/** A breakpoint that was reached; with `isConditional` V8 has stopped because its condition holds. */
export type HitBreakpoint = { breakpoint: Breakpoint; isConditional: boolean };

/** The breakpoints that are set in V8, by the ids that it gave them. */
export class PlacedBreakpoints {
  readonly #link: InspectorLink;
  readonly #all = new Map<string, Placed>();

  constructor(link: InspectorLink) {
    this.#link = link;
  }

  /** Those that are set where the inspector says it has stopped. */
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

  /** Takes these away. At a place where another cell of the same text has one, that one stays. */
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

  /** Has V8 look at the condition from here on: to stop and to ask takes a thousand times as long. */
  async makeConditional(breakpoint: Breakpoint, condition: string): Promise<void> {
    for (const [breakpointId, { location, breakpoints, isConditional }] of this.#all) {
      // Two at one place have a condition each.
      if (isConditional || breakpoints.length !== 1 || breakpoints[0] !== breakpoint) continue;
      this.#all.delete(breakpointId);
      await this.#link.call('Debugger.removeBreakpoint', { breakpointId });
      const placed = await this.#link.call('Debugger.setBreakpoint', { location, condition });
      this.#all.set(placed.breakpointId, { location, breakpoints, isConditional: true });
    }
  }
}
