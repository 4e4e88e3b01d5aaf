import type { Runtime } from 'node:inspector';
import type { DebugRequest } from '#shared/debugMessages.ts';
import { breakpointsIn, cellIn, numberIn, pathIn, textIn, wantedIn, type Arguments } from './dapArguments.ts';
import { DebugProblem } from './debugProblem.ts';
import { cellFilePrefix, cellFileSuffix, hashSeed, type DebugScripts } from './debugScripts.ts';
import { threadId, type DebugSession, type Step } from './debugSession.ts';
import { heldGroup, type DapVariable } from './debugVariables.ts';
import { toldFrame } from './frames.ts';
import { inspectOnce } from './inspectOnce.ts';
import { forJupyterLab, jupyterLab } from './jupyterTypes.ts';
import { argumentOf, saidBy } from './mainHook.ts';
import { notebookHolder, scriptFor } from './pause.ts';
import { readSource } from './sources.ts';
import { thrownAt } from './stops.ts';

/** What requests are answered from. */
export type Debugging = {
  scripts: DebugScripts;
  emit: (event: string, body?: object) => void;
  interrupt: () => Promise<boolean>;
  /** From `attach` to `disconnect`. */
  session: DebugSession | undefined;
  /** What the front counts lines and columns from. */
  bases: { lineBase: 0 | 1; columnBase: 0 | 1 };
  /** What the front calls itself. */
  client: unknown;
  attach(): Promise<DebugSession>;
  detach(): void;
};

type Body = object | undefined;
type Handler = (given: Arguments, state: Debugging) => Body | Promise<Body>;

/**
 * Answers one request.
 * @returns the response's body
 * @throws DebugProblem saying why it can't be answered
 */
export async function answerDebug({ command, arguments: given = {} }: DebugRequest, state: Debugging): Promise<Body> {
  const handler = Object.hasOwn(handlers, command) ? handlers[command] : undefined;
  if (!handler) throw new DebugProblem(`This debugger does not know "${command}".`);
  return handler(given, state);
}

const capabilities = {
  supportsConfigurationDoneRequest: true,
  supportsConditionalBreakpoints: true,
  supportsHitConditionalBreakpoints: true,
  supportsLogPoints: true,
  supportsEvaluateForHovers: true,
  supportsSetVariable: true,
  supportsExceptionInfoRequest: true,
  supportsTerminateRequest: true,
  supportsModulesRequest: true,
  supportsClipboardContext: true,
  exceptionBreakpointFilters: [
    { filter: 'all', label: 'All Exceptions', default: false },
    { filter: 'uncaught', label: 'Uncaught Exceptions', default: false },
  ],
};

function sessionOf({ session }: Debugging): DebugSession {
  if (!session) throw new DebugProblem('Nothing is being debugged. Attach first.');
  return session;
}

const step =
  (name: Step): Handler =>
  async (_, state) => {
    await sessionOf(state).step(name);
    return undefined;
  };

const handlers: Partial<Record<string, Handler>> = {
  initialize({ linesStartAt1, columnsStartAt1, clientID }, state) {
    state.client = clientID;
    state.bases = { lineBase: linesStartAt1 === false ? 0 : 1, columnBase: columnsStartAt1 === false ? 0 : 1 };
    return capabilities;
  },
  async attach(_, state) {
    await state.attach();
    state.emit('initialized');
    return undefined;
  },
  configurationDone: () => undefined,
  disconnect(_, state) {
    state.detach();
    return undefined;
  },
  async terminate(_, state) {
    await state.interrupt();
    state.detach();
    state.emit('terminated');
    return undefined;
  },
  debugInfo: (_, { session }) => ({
    isStarted: session !== undefined,
    hashMethod: 'Murmur2',
    hashSeed,
    tmpFilePrefix: cellFilePrefix,
    tmpFileSuffix: cellFileSuffix,
    breakpoints: session?.breakpoints.list() ?? [],
    stoppedThreads: session?.pausedAt ? [threadId] : [],
    richRendering: true,
    exceptionPaths: [],
    copyToGlobals: false,
  }),
  dumpCell: (given, { scripts }) => ({ sourcePath: scripts.dump(textIn(given, 'code')) }),
  source: async (given, { scripts }) => ({ content: await readSource(pathIn(given), scripts) }),
  modules(_, { scripts }) {
    const files = scripts.all().filter(({ cell }) => cell === undefined);
    return { modules: files.map(({ id, name, path }) => ({ id, name, path })), totalModules: files.length };
  },
  async setBreakpoints(given, state) {
    const { lineBase, columnBase } = state.bases;
    const wanted = breakpointsIn(given, lineBase, columnBase);
    const told = await sessionOf(state).breakpoints.set(pathIn(given), wanted, cellIn(given));
    return {
      breakpoints: told.map((each) => ({
        ...each,
        line: each.line - 1 + lineBase,
        ...(each.column !== undefined && { column: each.column - 1 + columnBase }),
        source: { path: pathIn(given) },
      })),
    };
  },
  async setExceptionBreakpoints({ filters }, state) {
    const wanted: unknown[] = Array.isArray(filters) ? filters : [];
    const kind = wanted.includes('all') ? 'all' : wanted.includes('uncaught') ? 'uncaught' : 'none';
    await sessionOf(state).link.call('Debugger.setPauseOnExceptions', { state: kind });
    return undefined;
  },
  threads: () => ({ threads: [{ id: threadId, name: 'Notebook' }] }),
  stackTrace({ startFrame, levels }, state) {
    const { frames } = sessionOf(state).pause;
    const start = typeof startFrame === 'number' ? startFrame : 0;
    const count = typeof levels === 'number' && levels > 0 ? levels : frames.length;
    return {
      stackFrames: frames
        .slice(start, start + count)
        .map((frame) => toldFrame(frame, state.bases, state.scripts.urlOf(frame.call.location.scriptId))),
      totalFrames: frames.length,
    };
  },
  async scopes({ frameId }, state) {
    const { pause } = sessionOf(state);
    return { scopes: await pause.scopes(pause.frame(frameId)) };
  },
  async variables(given, state) {
    const { variables } = sessionOf(state);
    return toldTo(state, await variables.list(numberIn(given, 'variablesReference'), wantedIn(given)));
  },
  async setVariable(given, state) {
    const session = sessionOf(state);
    const holder = session.variables.holderOf(numberIn(given, 'variablesReference'));
    const value = await evaluate(textIn(given, 'value'), undefined, session);
    await holder.set(textIn(given, 'name'), argumentOf(value));
    return session.variables.told(value);
  },
  async evaluate(given, state) {
    const session = sessionOf(state);
    const { context, frameId } = given;
    const found = await evaluate(textIn(given, 'expression'), frameId, session, context === 'hover');
    const { value, ...rest } = session.variables.told(found, context === 'clipboard');
    return { result: value, ...rest };
  },
  async continue(_, state) {
    await sessionOf(state).resume();
    return { allThreadsContinued: true };
  },
  next: step('next'),
  stepIn: step('stepIn'),
  stepOut: step('stepOut'),
  async pause(_, state) {
    await sessionOf(state).askPause();
    return undefined;
  },
  exceptionInfo(_, state) {
    const thrown = thrownAt(sessionOf(state).pause);
    if (!thrown) throw new DebugProblem('The code does not stand at an exception.');
    const { id, description, isUncaught } = thrown;
    return { exceptionId: id, description, breakMode: isUncaught ? 'unhandled' : 'always' };
  },
  async inspectVariables(_, state) {
    const { session } = state;
    if (!session) return toldTo(state, await inspectOnce((once) => once.variables()));
    const reference = session.variables.hold(notebookHolder(session));
    return toldTo(state, await session.variables.list(reference, wantedIn({})));
  },
  async richInspectVariables(given, { session }) {
    const name = textIn(given, 'variableName');
    // A front also asks for what it calls a variable and is a heading or an element.
    if (!/^[\p{ID_Start}$_][\p{ID_Continue}$]*$/u.test(name)) return { data: {}, metadata: {} };
    if (!session) return inspectOnce((once) => once.formsOf(name));
    return session.hook.formsOf(argumentOf(await evaluate(name, given['frameId'], session)));
  },
};

const toldTo = ({ client }: Debugging, variables: DapVariable[]): object => ({
  variables: client === jupyterLab ? variables.map(forJupyterLab) : variables,
});

/** What a person typed, in a frame: that of `frameId`, or the innermost; where nothing stands still, in the notebook. */
async function evaluate(
  expression: string,
  frameId: unknown,
  session: DebugSession,
  isLook = false,
): Promise<Runtime.RemoteObject> {
  const { pausedAt, link, hook } = session;
  const frame = frameId === undefined ? pausedAt?.frames[0] : session.pause.frame(frameId);
  if (pausedAt && frame) return pausedAt.evaluate(frame, expression, isLook);
  const { result, exceptionDetails } = await link.call('Runtime.evaluate', {
    expression: await scriptFor(hook, expression, []),
    objectGroup: heldGroup,
    generatePreview: true,
    silent: true,
    throwOnSideEffect: isLook,
    timeout: 3000,
  });
  if (exceptionDetails) throw new DebugProblem(saidBy(exceptionDetails));
  return result;
}
