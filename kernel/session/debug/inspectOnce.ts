import type { DebugHook } from './debugHookTypes.ts';
import { DebugVariables, maxParts, type DapVariable } from './debugVariables.ts';
import { InspectorLink } from './inspectorLink.ts';
import { MainHook, argumentOf } from './mainHook.ts';
import { notebookHolder } from './pause.ts';

type Once = {
  variables(): Promise<DapVariable[]>;
  formsOf(name: string): Promise<ReturnType<DebugHook['formsOf']>>;
};

/** Looks at the notebook's variables for a front that debugs nothing: connected for the moment, and without parts to unfold. */
export async function inspectOnce<T>(look: (once: Once) => Promise<T>): Promise<T> {
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
