import { Session, type Debugger, type Runtime } from 'node:inspector';
import { DebugProblem } from './debugTypes.ts';

/** The inspector commands that the debugger uses, with their parameters and results. */
type Commands = {
  'Debugger.enable': [object, unknown];
  'Debugger.disable': [object, unknown];
  'Debugger.setAsyncCallStackDepth': [Debugger.SetAsyncCallStackDepthParameterType, unknown];
  'Debugger.setBlackboxPatterns': [Debugger.SetBlackboxPatternsParameterType & { skipAnonymous?: boolean }, unknown];
  // Node's types omit the experimental parts of the inspector protocol.
  'Debugger.setInstrumentationBreakpoint': [{ instrumentation: 'beforeScriptWithSourceMapExecution' }, unknown];
  'Debugger.setPauseOnExceptions': [Debugger.SetPauseOnExceptionsParameterType, unknown];
  'Debugger.setSkipAllPauses': [Debugger.SetSkipAllPausesParameterType, unknown];
  'Debugger.getPossibleBreakpoints': [
    Debugger.GetPossibleBreakpointsParameterType,
    Debugger.GetPossibleBreakpointsReturnType,
  ];
  'Debugger.setBreakpoint': [Debugger.SetBreakpointParameterType, Debugger.SetBreakpointReturnType];
  'Debugger.removeBreakpoint': [Debugger.RemoveBreakpointParameterType, unknown];
  'Debugger.evaluateOnCallFrame': [
    Debugger.EvaluateOnCallFrameParameterType & { timeout?: number },
    Debugger.EvaluateOnCallFrameReturnType,
  ];
  'Debugger.setVariableValue': [Debugger.SetVariableValueParameterType, unknown];
  'Debugger.getScriptSource': [Debugger.GetScriptSourceParameterType, Debugger.GetScriptSourceReturnType];
  'Debugger.resume': [{ terminateOnResume?: boolean }, unknown];
  'Debugger.stepOver': [object, unknown];
  'Debugger.stepInto': [object, unknown];
  'Debugger.stepOut': [object, unknown];
  'Debugger.pause': [object, unknown];
  'Runtime.evaluate': [
    Runtime.EvaluateParameterType & { timeout?: number; throwOnSideEffect?: boolean },
    Runtime.EvaluateReturnType,
  ];
  'Runtime.callFunctionOn': [Runtime.CallFunctionOnParameterType, Runtime.CallFunctionOnReturnType];
  'Runtime.getProperties': [
    Runtime.GetPropertiesParameterType & { nonIndexedPropertiesOnly?: boolean },
    Runtime.GetPropertiesReturnType & { privateProperties?: PrivateProperty[] },
  ];
  'Runtime.releaseObjectGroup': [Runtime.ReleaseObjectGroupParameterType, unknown];
  'Runtime.discardConsoleEntries': [object, unknown];
};

type PrivateProperty = Pick<Runtime.PropertyDescriptor, 'name' | 'value' | 'get'>;

type LinkEvents = {
  scriptParsed(event: Debugger.ScriptParsedEventDataType): void;
  paused(event: Debugger.PausedEventDataType): void;
  resumed(): void;
};

/**
 * Time limit for a reply of the main thread. The limit is needed because the thread can't reply while native code
 * blocks it.
 */
const answerMs = 5000;

/** An inspector session with the main thread. The main thread can reply while its JavaScript runs or is paused. */
export class InspectorLink {
  readonly #session = new Session();
  readonly #closed = new AbortController();

  /** @throws Error if Node.js has no inspector */
  constructor(events: LinkEvents) {
    this.#session.connectToMainThread();
    this.#session.on('Debugger.scriptParsed', ({ params }) => events.scriptParsed(params));
    this.#session.on('Debugger.paused', ({ params }) => events.paused(params));
    this.#session.on('Debugger.resumed', () => events.resumed());
  }

  /** @throws DebugProblem if the inspector reports an error, if there is no reply in time, or if the link is closed */
  call<K extends keyof Commands>(command: K, params: Commands[K][0]): Promise<Commands[K][1]> {
    return new Promise((resolve, reject) => {
      const { signal } = this.#closed;
      if (signal.aborted) return reject(new DebugProblem('Debugging has ended. Start it again.'));
      const giveUp = () => reject(new DebugProblem('Debugging has ended. Start it again.'));
      const late = () =>
        reject(
          new DebugProblem(
            'The notebook does not respond to the debugger: it runs native code or waits for another process. Try again when this has finished, or restart the kernel.',
          ),
        );
      const timer = setTimeout(late, answerMs);
      signal.addEventListener('abort', giveUp, { once: true });
      this.#session.post(command, params, (error: unknown, result: Commands[K][1]) => {
        clearTimeout(timer);
        signal.removeEventListener('abort', giveUp);
        if (error) reject(new DebugProblem(saidBy(error)));
        else resolve(result);
      });
      return undefined;
    });
  }

  /** Disconnects from the main thread; paused code continues. */
  close(): void {
    this.#closed.abort();
    this.#session.disconnect();
  }
}

const saidBy = (error: unknown): string => {
  const said =
    typeof error === 'object' && error !== null && 'message' in error ? String(error.message) : String(error);
  const plain = said.replace(/^Inspector error -?\d+: /, '');
  return plain === 'Execution was terminated' ? 'The evaluation took too long and was stopped.' : plain;
};
