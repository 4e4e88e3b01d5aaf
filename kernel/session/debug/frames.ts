import type { DebugProtocol } from '@vscode/debugprotocol';
import type { Debugger, Runtime } from 'node:inspector';
import { basename } from 'node:path';
import { fileURLToPath } from 'node:url';
import { isDeepStrictEqual } from 'node:util';
import { runtimeName, variablePrefix } from '#session/compile/generatedNames.ts';
import { cellGlobalNames } from '#session/run/cellGlobals.ts';
import type { DebugScripts, UserScript } from './debugScripts.ts';
import type { Place } from './positions.ts';

/** A stack frame that is shown to users. */
export type Frame = {
  id: number;
  call: Debugger.CallFrame;
  name: string;
  script: UserScript | undefined;
  /** The position in the user's code, from 0. */
  place: Place;
  /** Whether execution is paused in code that the compiler added, at the end of a cell for instance. */
  isAdded: boolean;
};

/** The scripts of the kernel and of Node.js, which are not debugged from a notebook. */
export const ownScripts = ['^node:', '[\\\\/]dist[\\\\/](?:kernel|fromSnapshot|launcher)\\w*\\.cjs$'];
const isOwn = (url: string): boolean => url === '' || ownScripts.some((pattern) => new RegExp(pattern).test(url));

/** Returns the frames of a pause that are shown, the innermost first. */
export async function framesOf(
  calls: readonly Debugger.CallFrame[],
  scripts: DebugScripts,
  nextId: () => number,
): Promise<Frame[]> {
  const frames = await Promise.all(
    calls.map(async (call): Promise<Frame | undefined> => {
      const { scriptId, lineNumber, columnNumber = 0 } = call.location;
      const script = scripts.get(scriptId);
      if (!script && isOwn(scripts.urlOf(scriptId))) return undefined;
      const at = { line: lineNumber, column: columnNumber };
      const place = script ? (await script.positions()).original(at) : at;
      return {
        id: nextId(),
        call,
        name: nameOf(call, script),
        script,
        place: place ?? at,
        isAdded: place === undefined,
      };
    }),
  );
  return frames.filter((frame) => frame !== undefined);
}

/** Whether execution is paused at the end of a cell, in code that the kernel added. */
export const isEnd = ({ isAdded, script, call }: Frame): boolean =>
  isAdded && script?.cell !== undefined && isBody(call) && call.location.lineNumber >= script.endLine;

/** Whether execution is still on the line of `from`. Needed because V8 steps at each call and each await of a line. */
export const isSameLine = (from: Frame, to: Frame | undefined): boolean =>
  to?.script !== undefined &&
  to.script.id === from.script?.id &&
  to.place.line === from.place.line &&
  isDeepStrictEqual(to.call.functionLocation, from.call.functionLocation);

// Whether a frame is the function around the code of a cell. That function starts on the line above the cell.
const isBody = ({ functionLocation }: Debugger.CallFrame): boolean => (functionLocation?.lineNumber ?? 0) < 0;

function nameOf(call: Debugger.CallFrame, script: UserScript | undefined): string {
  if (call.functionName) return call.functionName;
  if (script?.cell && isBody(call)) return `cell ${script.name}`;
  return '(anonymous)';
}

type Lines = { lineBase: 0 | 1; columnBase: 0 | 1 };

/** Converts a frame for the client. */
export function toDapFrame(
  { id, name, script, place }: Frame,
  { lineBase, columnBase }: Lines,
  url: string,
): DebugProtocol.StackFrame {
  const at = { id, name, line: place.line + lineBase, column: place.column + columnBase };
  if (!script) return { ...at, source: librarySource(url), presentationHint: 'subtle' };
  const { path, cell, name: sourceName } = script;
  const adapterData = cell && { executionCount: cell.executionCount, ...(cell.cell && { cell: cell.cell }) };
  return {
    ...at,
    source: { name: sourceName, path, ...(adapterData && { adapterData }) },
  };
}

function librarySource(url: string): DebugProtocol.Source {
  if (!url.startsWith('file:')) return { name: url, presentationHint: 'deemphasize' };
  const path = fileURLToPath(url);
  return { name: basename(path), path, presentationHint: 'deemphasize' };
}

const scopeNames: Partial<Record<Debugger.Scope['type'], string>> = {
  local: 'Local',
  block: 'Block',
  catch: 'Catch',
  closure: 'Closure',
  with: 'With',
  eval: 'Eval',
  module: 'Module',
};

/** Returns the label of a scope; undefined if the scope is not shown. */
export const scopeName = ({ type, name }: Debugger.Scope): string | undefined => {
  const known = scopeNames[type];
  return known !== undefined && type === 'closure' && name ? `${known} (${name})` : known;
};

/** Names that every cell gets in addition to the notebook's variables. */
const given: ReadonlySet<string> = new Set(['require', 'module', 'exports', '__filename', '__dirname']);
const globals: ReadonlySet<string> = new Set(cellGlobalNames);

/** Returns the user's own names in a scope, and `this` if present. */
export function ownNames(properties: readonly Runtime.PropertyDescriptor[]): Runtime.PropertyDescriptor[] {
  // The function around a cell has a scope that holds only the kernel's versions of some globals. This scope is left
  // out.
  if (properties.every(({ name }) => globals.has(name))) return [];
  const names = new Set(properties.map(({ name }) => name));
  const isCell = names.has(runtimeName);
  // In the scope of a cell, V8 also lists a function of the cell under its own name. That entry is left out, because
  // the user and later cells refer to the notebook variable.
  const isShared = (name: string) => names.has(variablePrefix + name);
  return properties.filter(
    ({ name }) =>
      !name.startsWith(variablePrefix) && name !== runtimeName && !(isCell && (given.has(name) || isShared(name))),
  );
}
