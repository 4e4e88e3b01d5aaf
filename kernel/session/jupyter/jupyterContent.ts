import type { CellOutput, WorkerStart } from '#session/threads/coreMessages.ts';
import type { NotebookLanguage } from '#shared/notebookLanguage.ts';
import { languageInfo } from '#session/about.ts';
import { encodeMessage, protocolVersion, type Frames, type Signer } from './jupyterFrames.ts';
import { colouredTraceback } from './tracebackColours.ts';

// The contents of messages under Jupyter's names.

/** @param canDebug whether the kernel supports `debug_request` */
export function kernelInfo(
  { typescript, version }: Pick<WorkerStart, 'typescript' | 'version'>,
  canDebug: boolean,
  language: NotebookLanguage = 'typescript',
): Record<string, unknown> {
  return {
    status: 'ok',
    protocol_version: protocolVersion,
    implementation: 'lance-catalog',
    implementation_version: version,
    language_info: languageInfo(language, { typescript, node: process.versions.node }),
    banner: `Lance Catalog ${version}, TypeScript ${typescript}. db is the catalog.`,
    help_links: [],
    // Older clients do not know this list and read `debugger` below.
    supported_features: ['kernel subshells', ...(canDebug ? ['debugger'] : [])],
    debugger: canDebug,
  };
}

export function contentOf(output: CellOutput): unknown {
  switch (output.type) {
    case 'status':
      return { execution_state: output.content.executionState };
    case 'execute_input':
      return { code: output.content.code, execution_count: output.content.executionCount };
    case 'execute_result': {
      const { data, metadata, executionCount } = output.content;
      return { data, metadata, execution_count: executionCount };
    }
    case 'display_data':
    case 'update_display_data': {
      const { data, metadata, displayId } = output.content;
      return { data, metadata, transient: displayId === undefined ? {} : { display_id: displayId } };
    }
    case 'error':
      return { ...output.content, traceback: colouredTraceback(output.content) };
    case 'stream':
    case 'clear_output':
      return output.content;
  }
}

/** Returns the `status` message that a kernel publishes once, when it starts. */
export const startingFrames = (session: string, signer: Signer): Frames =>
  encodeMessage(
    { identities: ['status'], type: 'status', content: { execution_state: 'starting' }, parent: undefined },
    session,
    signer,
  );
