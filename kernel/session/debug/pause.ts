import type { DebugProtocol } from '@vscode/debugprotocol';
import type { Debugger, Runtime } from 'node:inspector';
import { DebugProblem } from './debugTypes.ts';
import type { DebugScripts } from './debugScripts.ts';
import { heldGroup, type DebugVariables, type VariableContainer, type ChildVariable } from './debugVariables.ts';
import { framesOf, ownNames, scopeName, type Frame } from './frames.ts';
import type { InspectorLink } from './inspectorLink.ts';
import { hookExpression, thrownMessage, type MainHook } from './mainHook.ts';

type PauseDeps = {
  link: InspectorLink;
  hook: MainHook;
  scripts: DebugScripts;
  variables: DebugVariables;
  nextId: () => number;
};

/** Value of a `const` before its declaration has run. */
const notYet = '(not set yet)';
/** How long code typed at a pause may run. */
const evaluateMs = 3000;

/** A pause of the code: its frames, their variables, and evaluation in them. */
export class Pause {
  readonly event: Debugger.PausedEventDataType;
  readonly frames: readonly Frame[];
  readonly #parts: PauseDeps;
  /** The names that a frame itself declares. They hide notebook variables of the same name. */
  readonly #names = new Map<Frame, Promise<string[]>>();

  private constructor(event: Debugger.PausedEventDataType, frames: readonly Frame[], parts: PauseDeps) {
    this.event = event;
    this.frames = frames;
    this.#parts = parts;
  }

  static async at(event: Debugger.PausedEventDataType, parts: PauseDeps): Promise<Pause> {
    return new Pause(event, await framesOf(event.callFrames, parts.scripts, parts.nextId), parts);
  }

  /** @throws DebugProblem if the frame is from an earlier pause */
  frame(id: unknown): Frame {
    const frame = this.frames.find((each) => each.id === id);
    if (!frame) throw new DebugProblem('The code has continued, so this frame no longer exists.');
    return frame;
  }

  /** Returns the scopes of a frame that are not empty, the innermost first, then the notebook's variables. */
  async scopes(frame: Frame): Promise<DebugProtocol.Scope[]> {
    const { variables } = this.#parts;
    const scopes: DebugProtocol.Scope[] = [];
    for (const [index, scope] of frame.call.scopeChain.entries()) {
      const name = scopeName(scope);
      if (name === undefined) continue;
      const own = await this.#properties(scope);
      if (own.length === 0) continue;
      const variablesReference = variables.hold(this.#scopeHolder(frame, index, scope));
      const presentationHint = scope.type === 'local' ? 'locals' : undefined;
      scopes.push({ name, variablesReference, expensive: false, ...(presentationHint && { presentationHint }) });
    }
    return [...scopes, { name: 'Notebook', variablesReference: variables.hold(this.notebook()), expensive: false }];
  }

  /** Returns the variables that cells created. */
  notebook(): VariableContainer {
    return notebookHolder(this.#parts);
  }

  /**
   * Evaluates code that the user typed, in a frame. With `isLook`, used for hovers, the code must not have side
   * effects.
   * @throws DebugProblem with the error that the code threw
   */
  async evaluate(frame: Frame, expression: string, isLook = false): Promise<Runtime.RemoteObject> {
    const { link, hook } = this.#parts;
    const code = await scriptFor(hook, expression, await this.#namesIn(frame));
    const { result, exceptionDetails } = await link.call('Debugger.evaluateOnCallFrame', {
      callFrameId: frame.call.callFrameId,
      expression: code,
      objectGroup: heldGroup,
      generatePreview: true,
      silent: true,
      throwOnSideEffect: isLook,
      timeout: evaluateMs,
    });
    if (exceptionDetails) throw new DebugProblem(thrownMessage(exceptionDetails));
    return result;
  }

  /**
   * Converts a condition to code that V8 evaluates at the location of a frame. The code stays valid, because the
   * declared names are always the same at one location.
   */
  async conditionAt(frame: Frame, condition: string): Promise<string> {
    const code = await javascriptFor(this.#parts.hook, condition);
    const hidden = JSON.stringify((await this.#namesIn(frame)).join(' '));
    return `with (${hookExpression}.scopeOf(${hidden})) {\n${code}\n}`;
  }

  #scopeHolder(frame: Frame, scopeNumber: number, scope: Debugger.Scope): VariableContainer {
    return {
      parts: async () => {
        const own = (await this.#properties(scope)).map(({ name, value }): ChildVariable => ({
          name,
          value: value ?? notYet,
        }));
        const self = frame.call.this;
        return scope.type === 'local' && self.type !== 'undefined' ? [...own, { name: 'this', value: self }] : own;
      },
      set: async (variableName, newValue) => {
        const { callFrameId } = frame.call;
        const wanted = { callFrameId, scopeNumber, variableName, newValue };
        await this.#parts.link.call('Debugger.setVariableValue', wanted).catch((cause: unknown) => {
          throw new DebugProblem(`Can't set "${variableName}" here.`, { cause });
        });
      },
    };
  }

  async #properties({ object }: Debugger.Scope): Promise<Runtime.PropertyDescriptor[]> {
    if (object.objectId === undefined) return [];
    const { result } = await this.#parts.link.call('Runtime.getProperties', {
      objectId: object.objectId,
      ownProperties: true,
      generatePreview: true,
    });
    return ownNames(result);
  }

  #namesIn(frame: Frame): Promise<string[]> {
    const known = this.#names.get(frame);
    if (known) return known;
    const scopes = frame.call.scopeChain.filter(({ type }) => type !== 'global');
    const names = Promise.all(scopes.map((scope) => this.#properties(scope))).then((all) =>
      all.flat().map(({ name }) => name),
    );
    this.#names.set(frame, names);
    return names;
  }
}

/** Returns the notebook's variables, which exist whether or not code is paused. */
export const notebookHolder = ({ link, hook }: Pick<PauseDeps, 'link' | 'hook'>): VariableContainer => ({
  parts: async () => {
    const { objectId } = await hook.object('variables', [], heldGroup);
    if (objectId === undefined) return [];
    const { result } = await link.call('Runtime.getProperties', {
      objectId,
      ownProperties: true,
      generatePreview: true,
    });
    return result.map(({ name, value }): ChildVariable => ({ name, value: value ?? '' }));
  },
  set: (name, value) => hook.set(name, value),
});

/**
 * Converts code that the user typed to a script that finds the notebook's variables by name.
 * @throws DebugProblem if the code is not valid TypeScript
 */
export async function scriptFor(hook: MainHook, expression: string, hidden: readonly string[]): Promise<string> {
  const [code] = await Promise.all([javascriptFor(hook, expression), hook.value('look', hidden)]);
  return `with (${hookExpression}.scope) {\n${code}\n}`;
}

async function javascriptFor(hook: MainHook, code: string): Promise<string> {
  const script = await hook.compiled((it) => it.value('javascriptOf', code));
  if (!script) throw new DebugProblem('The compiler is busy. Try again in a moment.');
  if ('problem' in script) throw new DebugProblem(script.problem);
  return script.code;
}
