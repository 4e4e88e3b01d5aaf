import type { DebugProtocol } from '@vscode/debugprotocol';
import { readFile } from 'node:fs/promises';
import type { Runtime } from 'node:inspector';
import { pathToFileURL } from 'node:url';
import { messageOf } from '#shared/errors.ts';
import { stringAt } from '#shared/fields.ts';
import type { DebugRequest } from '#shared/protocol/debugMessages.ts';
import { isRecord } from '#shared/records.ts';
import { type Check, ensureShape, isFiniteNumber, isString } from '#shared/shape.ts';
import type { RequestedBreakpoint } from './breakpoints.ts';
import { cellFilePrefix, cellFileSuffix, type DebugScripts, hashSeed } from './debugScripts.ts';
import { type DebugSession, threadId } from './debugSession.ts';
import { type DebugHook, DebugProblem } from './debugTypes.ts';
import { type DapVariable, DebugVariables, heldGroup, maxParts, type Wanted } from './debugVariables.ts';
import { toDapFrame } from './frames.ts';
import { InspectorLink } from './inspectorLink.ts';
import { argumentOf, MainHook, thrownMessage } from './mainHook.ts';
import { notebookHolder, scriptFor } from './pause.ts';
import { type Step, thrownAt } from './stops.ts';

// Validates the arguments of requests before they are used.

type Arguments = Record<string, unknown>;

/** @throws DebugProblem if the argument is missing, or the check rejects it */
const readArgument = <T>(given: Arguments, name: string, check: Check<T>, expected: string): T =>
  ensureShape(
    given[name],
    check,
    (value) => new DebugProblem(`Expected ${expected} for "${name}", got ${typeof value}.`),
  );

const textIn = (given: Arguments, name: string): string => readArgument(given, name, isString, 'a string');
const numberIn = (given: Arguments, name: string): number => readArgument(given, name, isFiniteNumber, 'a number');

/** @throws DebugProblem if the source has no path */
function pathIn(given: Arguments): string {
  const source = given['source'];
  return textIn(isRecord(source) ? source : given, 'path');
}

/**
 * Returns the client's id of the cell that a source belongs to; undefined if the request has no id. The path of the
 * source does not identify the cell, because cells with the same text have the same path.
 */
function cellIn(given: Arguments): string | undefined {
  return stringAt(given, 'source', 'adapterData', 'cell');
}

/**
 * Returns the requested breakpoints, with lines and columns counted from 1.
 * @param lineBase,columnBase the numbers, 0 or 1, that the client gives to the first line and the first column
 */
function breakpointsIn(given: Arguments, lineBase: number, columnBase: number): RequestedBreakpoint[] {
  const all: unknown = given['breakpoints'];
  if (!Array.isArray(all)) return [];
  return all.filter(isRecord).map((each): RequestedBreakpoint => {
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

/** Returns which parts of a value the client requests. A client that does not page gets as many parts as allowed. */
function wantedIn({ filter, start, count }: Arguments): Wanted {
  const isPaged = filter === 'indexed' || filter === 'named';
  return {
    ...(isPaged && { filter }),
    start: typeof start === 'number' ? start : 0,
    count: typeof count === 'number' && count > 0 ? count : maxParts,
  };
}

type Once = {
  variables(): Promise<DapVariable[]>;
  formsOf(name: string): Promise<ReturnType<DebugHook['formsOf']>>;
};

/**
 * Reads the notebook's variables without a debug session: connects only for this call, so the returned values can't be
 * expanded.
 */
async function inspectOnce<T>(look: (once: Once) => Promise<T>): Promise<T> {
  const link = new InspectorLink({ scriptParsed: () => {}, paused: () => {}, resumed: () => {} });
  try {
    const hook = await MainHook.find(link);
    const variables = new DebugVariables(link);
    const { parts } = notebookHolder({ link, hook });
    const all = () => parts({ start: 0, count: maxParts });
    return await look({
      variables: async () => (await all()).map((part) => ({ ...variables.partOf(part), variablesReference: 0 })),
      async formsOf(name) {
        const value = (await all()).find((part) => part.name === name)?.value;
        return value === undefined || typeof value === 'string'
          ? { data: {}, metadata: {} }
          : hook.formsOf(argumentOf(value));
      },
    });
  } finally {
    link.close();
  }
}

/**
 * JupyterLab's names of types, which are the names of Python's types. If a type has another name, JupyterLab shows the
 * type instead of the value.
 */
const words: Partial<Record<string, string>> = { string: 'str', boolean: 'bool' };

/** The `clientID` of JupyterLab in `initialize`. */
const jupyterLab = 'jupyterlab';

/** Adapts a variable so that JupyterLab shows its value. */
function forJupyterLab({ type, ...variable }: DapVariable): Omit<DapVariable, 'type'> & { type?: string } {
  const word = type === 'number' ? numberWord(variable.value) : words[type];
  return word === undefined ? variable : { ...variable, type: word };
}

// JupyterLab parses these values as numbers of Python. Python does not write `NaN` and `Infinity` like JavaScript, so
// the result is undefined for them.
const numberWord = (value: string): string | undefined =>
  /^-?\d+$/.test(value) ? 'int' : /^-?\d/.test(value) ? 'float' : undefined;

/**
 * Returns the text of a cell as it was run, or of a loaded file.
 * @throws DebugProblem for any other path
 */
async function readSource(path: string, scripts: DebugScripts): Promise<string> {
  const cell = scripts.textOf(path);
  if (cell !== undefined) return cell;
  const isLoaded = scripts.byPath(path).length > 0 || scripts.hasUrl(pathToFileURL(path).href);
  if (!isLoaded) throw new DebugProblem(`Can't read "${path}": it is not a source of this notebook.`);
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    throw new DebugProblem(`Can't read "${path}": ${messageOf(error)}`, { cause: error });
  }
}

/** The state that request handlers use. */
export type Debugging = {
  scripts: DebugScripts;
  emit: (event: string, body?: object) => void;
  interrupt: () => Promise<boolean>;
  /** Exists from `attach` to `disconnect`. */
  session: DebugSession | undefined;
  /** The numbers that the client gives to the first line and the first column. */
  bases: { lineBase: 0 | 1; columnBase: 0 | 1 };
  /** The client's `clientID`. */
  client: unknown;
  attach(): Promise<DebugSession>;
  detach(): void;
};

type Body = object | undefined;
type Handler = (given: Arguments, state: Debugging) => Body | Promise<Body>;

/**
 * Handles one request.
 * @returns the response's body
 * @throws DebugProblem if the request can't be answered
 */
export async function answerDebug({ command, arguments: given = {} }: DebugRequest, state: Debugging): Promise<Body> {
  const handler = Object.hasOwn(handlers, command) ? handlers[command] : undefined;
  if (!handler) throw new DebugProblem(`The debugger does not support the request "${command}".`);
  return handler(given, state);
}

const capabilities: DebugProtocol.Capabilities = {
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
  if (!session) throw new DebugProblem('There is no debug session. Attach first.');
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
        .map((frame) => toDapFrame(frame, state.bases, state.scripts.urlOf(frame.call.location.scriptId))),
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
    if (!thrown) throw new DebugProblem('The code is not paused at an exception.');
    const { id, description, isUncaught } = thrown;
    const breakMode = isUncaught ? 'unhandled' : 'always';
    return { exceptionId: id, description, breakMode } satisfies DebugProtocol.ExceptionInfoResponse['body'];
  },
  async inspectVariables(_, state) {
    const { session } = state;
    if (!session) return toldTo(state, await inspectOnce((once) => once.variables()));
    const reference = session.variables.hold(notebookHolder(session));
    return toldTo(state, await session.variables.list(reference, wantedIn({})));
  },
  async richInspectVariables(given, { session }) {
    const name = textIn(given, 'variableName');
    // Clients also send headings and elements of a list as variable names. These are not names of variables, so the
    // result is empty.
    if (!/^[\p{ID_Start}$_][\p{ID_Continue}$]*$/u.test(name)) return { data: {}, metadata: {} };
    if (!session) return inspectOnce((once) => once.formsOf(name));
    return session.hook.formsOf(argumentOf(await evaluate(name, given['frameId'], session)));
  },
};

const toldTo = ({ client }: Debugging, variables: DapVariable[]): object => ({
  variables: client === jupyterLab ? variables.map(forJupyterLab) : variables,
});

/**
 * Evaluates code that the user typed. While code is paused, evaluates in the frame `frameId`, or in the innermost frame
 * if no `frameId` is given. Otherwise evaluates in the notebook.
 */
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
  if (exceptionDetails) throw new DebugProblem(thrownMessage(exceptionDetails));
  return result;
}
