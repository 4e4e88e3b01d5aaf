import type { Runtime } from 'node:inspector';
import { setTimeout as sleep } from 'node:timers/promises';
import { DebugProblem } from './debugTypes.ts';
import { debugHookKey, type DebugHook } from './debugTypes.ts';
import type { InspectorLink } from './inspectorLink.ts';

/** How often, and how soon, the compiler is asked again. */
const compilerTries = 50;
const compilerMs = 20;

/** The functions among it. */
type HookName = Exclude<keyof DebugHook, 'scope'>;

/** How code of the main thread names it. */
export const hookExpression = `globalThis[${JSON.stringify(debugHookKey)}]`;

/** Calls what the main thread lends to the debugger, also while it is paused or busy. */
export class MainHook {
  readonly #link: InspectorLink;
  readonly #objectId: string;

  private constructor(link: InspectorLink, objectId: string) {
    this.#link = link;
    this.#objectId = objectId;
  }

  /** @throws DebugProblem while the kernel has not started yet */
  static async find(link: InspectorLink): Promise<MainHook> {
    const { result } = await link.call('Runtime.evaluate', {
      expression: hookExpression,
    });
    if (result.objectId === undefined) throw new DebugProblem('The kernel is still starting. Try again in a moment.');
    return new MainHook(link, result.objectId);
  }

  /** The result of a function, which JSON must be able to hold, as its arguments. */
  async value<K extends HookName>(name: K, ...given: Parameters<DebugHook[K]>): Promise<ReturnType<DebugHook[K]>> {
    const args = given.map((value): Runtime.CallArgument => ({ value }));
    const result = await this.#call(name, args, { returnByValue: true });
    return result.value as ReturnType<DebugHook[K]>;
  }

  /** What the compiler gives, which may be in the middle of something; undefined when it is for long. */
  async compiled<T>(ask: (hook: MainHook) => Promise<T | undefined>): Promise<T | undefined> {
    for (let tries = 0; tries < compilerTries; tries++) {
      const found = await ask(this);
      if (found !== undefined) return found;
      await sleep(compilerMs);
    }
    return undefined;
  }

  /** The result of a function as the object that it is on the main thread. */
  object(name: HookName, args: Runtime.CallArgument[], objectGroup: string): Promise<Runtime.RemoteObject> {
    return this.#call(name, args, { objectGroup });
  }

  /** The forms of a value of the main thread. */
  async formsOf(value: Runtime.CallArgument): Promise<ReturnType<DebugHook['formsOf']>> {
    const result = await this.#call('formsOf', [value], { returnByValue: true });
    return result.value as ReturnType<DebugHook['formsOf']>;
  }

  async set(name: string, value: Runtime.CallArgument): Promise<void> {
    await this.#call('set', [{ value: name }, value], { returnByValue: true });
  }

  async #call(
    name: HookName,
    args: Runtime.CallArgument[],
    options: { returnByValue?: boolean; objectGroup?: string },
  ): Promise<Runtime.RemoteObject> {
    const { result, exceptionDetails } = await this.#link.call('Runtime.callFunctionOn', {
      objectId: this.#objectId,
      functionDeclaration: `function (...given) { return this.${name}(...given); }`,
      arguments: args,
      silent: true,
      ...options,
    });
    if (exceptionDetails) throw new DebugProblem(saidBy(exceptionDetails));
    return result;
  }
}

/** The sentence of what code threw. */
export function saidBy({ exception, text }: Runtime.ExceptionDetails): string {
  const said = exception?.description ?? (exception ? String(exception.value) : text);
  return said.split('\n', 1)[0] ?? said;
}

/** A value of the main thread as something to be given to a function there. */
export function argumentOf({ objectId, unserializableValue, value }: Runtime.RemoteObject): Runtime.CallArgument {
  if (objectId !== undefined) return { objectId };
  return unserializableValue === undefined ? { value: value as unknown } : { unserializableValue };
}
