import type { Runtime } from 'node:inspector';
import { setTimeout as sleep } from 'node:timers/promises';
import { type DebugHook, debugHookKey, DebugProblem } from './debugTypes.ts';
import type { InspectorLink } from './inspectorLink.ts';

/** Number of retries while the compiler is busy, and the time between two retries. */
const compilerTries = 50;
const compilerMs = 20;

/** The functions of the hook. */
type HookName = Exclude<keyof DebugHook, 'scope'>;

/** Expression for the hook in code on the main thread. */
export const hookExpression = `globalThis[${JSON.stringify(debugHookKey)}]`;

/** Calls the debugger's hook on the main thread, even while that thread runs code or is paused. */
export class MainHook {
  readonly #link: InspectorLink;
  readonly #objectId: string;

  private constructor(link: InspectorLink, objectId: string) {
    this.#link = link;
    this.#objectId = objectId;
  }

  /** @throws DebugProblem if the kernel has not started yet */
  static async find(link: InspectorLink): Promise<MainHook> {
    const { result } = await link.call('Runtime.evaluate', {
      expression: hookExpression,
    });
    if (result.objectId === undefined) throw new DebugProblem('The kernel is still starting. Try again in a moment.');
    return new MainHook(link, result.objectId);
  }

  /** Calls a function whose arguments and result are JSON values. */
  async value<K extends HookName>(name: K, ...given: Parameters<DebugHook[K]>): Promise<ReturnType<DebugHook[K]>> {
    const args = given.map((value): Runtime.CallArgument => ({ value }));
    const result = await this.#call(name, args, { returnByValue: true });
    return result.value as ReturnType<DebugHook[K]>;
  }

  /** Calls the compiler, and retries while it is busy. Returns undefined if it is still busy after all retries. */
  async compiled<T>(ask: (hook: MainHook) => Promise<T | undefined>): Promise<T | undefined> {
    for (let tries = 0; tries < compilerTries; tries++) {
      const found = await ask(this);
      if (found !== undefined) return found;
      await sleep(compilerMs);
    }
    return undefined;
  }

  /** Calls a function of the hook. The result stays on the main thread, and a reference to the result is returned. */
  object(name: HookName, args: Runtime.CallArgument[], objectGroup: string): Promise<Runtime.RemoteObject> {
    return this.#call(name, args, { objectGroup });
  }

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
    if (exceptionDetails) throw new DebugProblem(thrownMessage(exceptionDetails));
    return result;
  }
}

/** Returns the first line of an error that code threw. */
export function thrownMessage({ exception, text }: Runtime.ExceptionDetails): string {
  const said = exception?.description ?? (exception ? String(exception.value) : text);
  return said.split('\n', 1)[0] ?? said;
}

/** Converts a value of the main thread to an argument for a function on the main thread. */
export function argumentOf({ objectId, unserializableValue, value }: Runtime.RemoteObject): Runtime.CallArgument {
  if (objectId !== undefined) return { objectId };
  return unserializableValue === undefined ? { value: value as unknown } : { unserializableValue };
}
