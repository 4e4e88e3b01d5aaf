import type { DebugScripts, UserScript } from './debugScripts.ts';
import { hitTest } from './hitCondition.ts';
import type { InspectorLink } from './inspectorLink.ts';
import type { MainHook } from './mainHook.ts';
import type { Place } from './positions.ts';

/** A breakpoint as a front wants it; line and column count from 1. */
export type WantedBreakpoint = {
  line: number;
  column?: number;
  condition?: string;
  hitCondition?: string;
  logMessage?: string;
};

/** A breakpoint as fronts are told of it. */
export type ToldBreakpoint = { id: number; verified: boolean; line: number; column?: number; message?: string };

export type Breakpoint = WantedBreakpoint & {
  id: number;
  told: ToldBreakpoint;
  /** Says at each time that it is reached whether it counts. */
  isHit: () => boolean;
};

/** A place where V8 can stop, in its own text and in the person's. */
type Breakable = { generated: Place; original: Place };

type Source = { breakpoints: Breakpoint[]; placed: string[] };

export type BreakpointParts = {
  link: InspectorLink;
  hook: MainHook;
  scripts: DebugScripts;
  changed: (breakpoint: ToldBreakpoint) => void;
};

/** The breakpoints of all sources: kept by source, set in each script that a source becomes. */
export class Breakpoints {
  readonly #parts: BreakpointParts;
  readonly #sources = new Map<string, Source>();
  /** By the inspector's id; two of one source may end up at the same place. */
  readonly #placed = new Map<string, { place: string; breakpoints: Breakpoint[] }>();
  #nextId = 1;

  constructor(parts: BreakpointParts) {
    this.#parts = parts;
  }

  /** Those of all sources, as `debugInfo` has them. */
  list(): { source: string; breakpoints: { line: number }[] }[] {
    return [...this.#sources]
      .filter(([, { breakpoints }]) => breakpoints.length > 0)
      .map(([source, { breakpoints }]) => ({
        source,
        breakpoints: breakpoints.map(({ told: { line } }) => ({ line })),
      }));
  }

  /** Replaces the breakpoints of a source. */
  async set(path: string, wanted: readonly WantedBreakpoint[]): Promise<ToldBreakpoint[]> {
    const { link, scripts } = this.#parts;
    const before = this.#sources.get(path);
    const source: Source = { breakpoints: wanted.map((each) => this.#make(each)), placed: [] };
    this.#sources.set(path, source);
    for (const breakpointId of before?.placed ?? []) {
      this.#placed.delete(breakpointId);
      await link.call('Debugger.removeBreakpoint', { breakpointId });
    }
    const loaded = scripts.byPath(path);
    for (const script of loaded) await this.#placeAll(source, script);
    if (loaded.length === 0) await this.#foresee(path, source);
    return source.breakpoints.map(({ told }) => told);
  }

  /** Sets the breakpoints of a script that has just been loaded and has not begun to run. */
  async place(script: UserScript): Promise<void> {
    const source = this.#sources.get(script.path);
    if (!source || source.breakpoints.length === 0) return;
    const before = source.breakpoints.map(({ told }) => told);
    await this.#placeAll(source, script);
    source.breakpoints.forEach(({ told }, index) => {
      const was = before[index];
      if (was?.line !== told.line || was.verified !== told.verified) this.#parts.changed(told);
    });
  }

  /** Those that are set where the inspector says it has stopped. */
  at(ids: readonly string[] = []): Breakpoint[] {
    return ids.flatMap((id) => this.#placed.get(id)?.breakpoints ?? []);
  }

  #make(wanted: WantedBreakpoint): Breakpoint {
    const id = this.#nextId++;
    const isHit = hitTest(wanted.hitCondition);
    if (isHit !== undefined) return { ...wanted, id, isHit, told: { id, verified: true, line: wanted.line } };
    const message = `"${wanted.hitCondition}" is no count of hits. Write 5, >= 5, or % 5 for every fifth.`;
    return { ...wanted, id, isHit: () => false, told: { id, verified: false, line: wanted.line, message } };
  }

  async #placeAll(source: Source, script: UserScript): Promise<void> {
    const breakable = await this.#breakableOf(script);
    for (const breakpoint of source.breakpoints) {
      const { id, told } = breakpoint;
      if (told.message !== undefined && !told.verified && breakpoint.hitCondition !== undefined) continue;
      const found = nearest(breakable, breakpoint);
      breakpoint.told = found
        ? { id, verified: true, line: found.original.line + 1, column: found.original.column + 1 }
        : { id, verified: false, line: breakpoint.line, message: noCode };
      if (found) source.placed.push(await this.#placeOne(breakpoint, script, found.generated));
    }
  }

  async #placeOne(breakpoint: Breakpoint, { id: scriptId }: UserScript, { line, column }: Place): Promise<string> {
    // V8 names a breakpoint by its place, and refuses a second one there.
    const place = `${scriptId}:${line}:${column}`;
    const [known, there] = [...this.#placed].find(([, each]) => each.place === place) ?? [];
    if (known !== undefined) {
      there?.breakpoints.push(breakpoint);
      return known;
    }
    const location = { scriptId, lineNumber: line, columnNumber: column };
    const { breakpointId } = await this.#parts.link.call('Debugger.setBreakpoint', { location });
    this.#placed.set(breakpointId, { place, breakpoints: [breakpoint] });
    return breakpointId;
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

  /** Says where breakpoints of a cell that has not run will be, as far as its text tells. */
  async #foresee(path: string, source: Source): Promise<void> {
    const code = this.#parts.scripts.textOf(path);
    if (code === undefined) return;
    const lines = await this.#parts.hook.value('linesOf', code).catch(() => undefined);
    if (!lines) return;
    for (const breakpoint of source.breakpoints) {
      const { id, told } = breakpoint;
      if (!told.verified) continue;
      const line = lines.find((each) => each >= breakpoint.line);
      breakpoint.told =
        line === undefined ? { ...told, verified: false, message: noCode } : { id, verified: true, line };
    }
  }
}

const noCode = 'There is no code on this line or below it.';

/** The first place on the wanted line, or on the next line below that has one. */
function nearest(all: readonly Breakable[], { line, column = 1 }: WantedBreakpoint): Breakable | undefined {
  const below = all.filter(({ original }) => original.line + 1 >= line);
  const first = Math.min(...below.map(({ original }) => original.line));
  const onLine = below.filter(({ original }) => original.line === first);
  const behind = onLine.filter(({ original }) => original.line + 1 > line || original.column + 1 >= column);
  return behind[0] ?? onLine.at(-1);
}
