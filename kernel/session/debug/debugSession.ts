import type { DebugProtocol } from '@vscode/debugprotocol';
import type { Debugger } from 'node:inspector';
import { Breakpoints } from './breakpoints.ts';
import type { DebugScripts } from './debugScripts.ts';
import { DebugProblem } from './debugTypes.ts';
import { DebugVariables } from './debugVariables.ts';
import { type Frame, isEnd, isSameLine, ownScripts } from './frames.ts';
import { InspectorLink } from './inspectorLink.ts';
import { MainHook } from './mainHook.ts';
import { Pause } from './pause.ts';
import { classifyPause, type Step, steps, type Stop } from './stops.ts';

export const threadId = 1;

/** Scripts that a step passes through without stopping: scripts of the kernel, of Node.js and of packages. */
const skipped = [...ownScripts, '[\\\\/]node_modules[\\\\/]'];
/**
 * Maximum V8 steps in one step of the user. One step of the user consists of several V8 steps, because the debugger
 * steps on while execution is on the same line or outside of the user's code.
 */
const maxSteps = 200;

type SessionEvents = (event: string, body?: object) => void;

/** Debugging from `attach` to `disconnect`: the connection to the main thread, and its pauses. */
export class DebugSession {
  readonly link: InspectorLink;
  readonly variables: DebugVariables;
  readonly #scripts: DebugScripts;
  readonly #emit: SessionEvents;
  #hook: MainHook | undefined;
  #breakpoints: Breakpoints | undefined;
  #pause: Pause | undefined;
  #step: Step | undefined;
  #steps = 0;
  /** The frame in which a step over a line started. */
  #from: Frame | undefined;
  #isPauseAsked = false;
  #pausesNext = false;
  #nextFrame = 1;
  #isEnding = false;

  private constructor(scripts: DebugScripts, emit: SessionEvents) {
    this.#scripts = scripts;
    this.#emit = emit;
    this.link = new InspectorLink({
      scriptParsed: (event) => scripts.add(event, () => this.hook),
      paused: (event) => void this.#paused(event),
      resumed: () => this.#resumed(),
    });
    this.variables = new DebugVariables(this.link);
  }

  /** @throws DebugProblem if the main thread can't be debugged now */
  static async open(scripts: DebugScripts, emit: SessionEvents): Promise<DebugSession> {
    scripts.clear();
    const session = new DebugSession(scripts, emit);
    try {
      await session.#begin();
      return session;
    } catch (error) {
      session.close();
      throw error;
    }
  }

  get hook(): MainHook {
    if (!this.#hook) throw new DebugProblem('The debug session has not started yet.');
    return this.#hook;
  }

  get breakpoints(): Breakpoints {
    if (!this.#breakpoints) throw new DebugProblem('The debug session has not started yet.');
    return this.#breakpoints;
  }

  /** The current pause; undefined while the code runs. */
  get pausedAt(): Pause | undefined {
    return this.#pause;
  }

  /** @throws DebugProblem while the code runs */
  get pause(): Pause {
    if (!this.#pause) throw new DebugProblem('The code is running. Pause it first.');
    return this.#pause;
  }

  async resume(): Promise<void> {
    this.#step = undefined;
    await this.link.call('Debugger.resume', {});
  }

  async step(step: Step): Promise<void> {
    if (!this.#pause) throw new DebugProblem('The code is running. Pause it first.');
    this.#step = step;
    this.#steps = 0;
    this.#from = step === 'next' ? this.#pause.frames[0] : undefined;
    await this.link.call(steps[step], {});
  }

  /** Pauses at the next statement of the user's code, now or when a cell runs. */
  async askPause(): Promise<void> {
    this.#isPauseAsked = true;
    this.#step = undefined;
    this.#steps = 0;
    await this.link.call('Debugger.pause', {});
  }

  /** Terminates paused code, like an interrupt. Until `allowPauses` is called, code does not pause. */
  async terminate(): Promise<void> {
    this.#step = undefined;
    await this.link.call('Debugger.setSkipAllPauses', { skip: true });
    if (this.#pause) await this.link.call('Debugger.resume', { terminateOnResume: true });
  }

  async allowPauses(): Promise<void> {
    await this.link.call('Debugger.setSkipAllPauses', { skip: false });
  }

  /** Disconnects from the main thread, so that its code runs at full speed again. Paused code continues. */
  close(): void {
    this.#isEnding = true;
    // The call is sent before the disconnect. It is not awaited, because the main thread may be in native code and then
    // can't reply.
    this.#hook?.value('attach', false).catch(() => {});
    this.link.call('Runtime.discardConsoleEntries', {}).catch(() => {});
    this.link.call('Debugger.disable', {}).catch(() => {});
    this.link.close();
    this.#resumed();
  }

  async #begin(): Promise<void> {
    this.#hook = await MainHook.find(this.link);
    const { link, hook } = this;
    const changed = (breakpoint: object) => this.#emit('breakpoint', { reason: 'changed', breakpoint });
    this.#breakpoints = new Breakpoints({ link, hook, scripts: this.#scripts, changed });
    await hook.value('attach', true);
    await link.call('Debugger.enable', {});
    await link.call('Debugger.setBlackboxPatterns', { patterns: skipped, skipAnonymous: true });
    await link.call('Debugger.setInstrumentationBreakpoint', {
      instrumentation: 'beforeScriptWithSourceMapExecution',
    });
  }

  async #paused(event: Debugger.PausedEventDataType): Promise<void> {
    try {
      if (isLoad(event)) return await this.#loaded(event);
      const { link, hook, variables } = this;
      const nextId = () => this.#nextFrame++;
      const pause = await Pause.at(event, { link, hook, scripts: this.#scripts, variables, nextId });
      const asked = { step: this.#step, isPauseAsked: this.#isPauseAsked };
      const stop = await classifyPause(pause, this.breakpoints, asked, (text, frame) => this.#log(text, frame));
      const isTired = this.#steps++ > maxSteps;
      const isOnWay = stop?.reason === 'step' && this.#from && isSameLine(this.#from, pause.frames[0]) && !isTired;
      if (stop && !isOnWay) return this.#stopped(pause, stop);
      // A step ends with its cell. Otherwise the step would continue in the kernel and still be active when the next
      // cell runs.
      const isOver = isTired || (pause.frames[0] && isEnd(pause.frames[0]));
      if (this.#step === undefined || isOver) return await this.#goOn(isTired);
      // Steps out of code that is not the user's. In the user's code, repeats the user's step, for instance on the same
      // line or in code that the compiler added.
      const isForeign = pause.frames[0]?.script === undefined;
      return void (await link.call(isForeign ? 'Debugger.stepOut' : steps[this.#step], {}));
    } catch (error) {
      // Resumes, because no client knows that the cell is paused.
      if (!this.#isEnding) this.#log(`The debugger could not pause here: ${String(error)}\n`);
      await this.link.call('Debugger.resume', {}).catch(() => {});
    }
  }

  /** Continues at a position that is not shown to the user. A pause that the user has requested stays pending. */
  async #goOn(isTired: boolean): Promise<void> {
    // V8 ignores a request to pause while it is paused, so `#resumed` sends the request.
    this.#pausesNext = this.#isPauseAsked && !isTired;
    await this.resume();
  }

  /** Called when a script has been loaded and is about to run. */
  async #loaded(event: Debugger.PausedEventDataType): Promise<void> {
    const { scriptId } = (event.data ?? {}) as { scriptId?: string };
    const script = this.#scripts.get(scriptId ?? event.callFrames[0]?.location.scriptId ?? '');
    try {
      if (script) await this.breakpoints.place(script);
    } finally {
      await this.link.call('Debugger.resume', {});
    }
  }

  #stopped(pause: Pause, { reason, description, text, ids }: Stop): void {
    this.#pause = pause;
    this.#step = undefined;
    this.#isPauseAsked = false;
    this.#emit('stopped', {
      reason,
      description,
      threadId,
      allThreadsStopped: true,
      ...(text !== undefined && { text }),
      ...(ids && { hitBreakpointIds: ids }),
    } satisfies DebugProtocol.StoppedEvent['body']);
  }

  #resumed(): void {
    if (this.#pausesNext && !this.#isEnding) this.link.call('Debugger.pause', {}).catch(() => {});
    this.#pausesNext = false;
    if (!this.#pause) return;
    this.#pause = undefined;
    if (!this.#isEnding) this.variables.clear();
    this.#emit('continued', { threadId, allThreadsContinued: true });
  }

  #log(text: string, frame?: Frame): void {
    const source = frame?.script && { source: { name: frame.script.name, path: frame.script.path } };
    this.#emit('output', {
      category: 'console',
      output: text,
      ...source,
      ...(frame && { line: frame.place.line + 1 }),
    } satisfies DebugProtocol.OutputEvent['body']);
  }
}

/** Whether a pause occurs before a script runs. The breakpoints of the script are set during this pause. */
const isLoad = ({ reason }: Debugger.PausedEventDataType): boolean => reason === 'instrumentation';
