import type { Duplex } from 'node:stream';
import ts from 'typescript-6';
import { keepDocsApart } from '#session/compile/lateDocs.ts';
import { useOwnOutlines } from '#session/compile/outlinedFiles.ts';
import { checkedHandlers } from '#shared/checkedHandlers.ts';
import { encodeFrame, readFrames } from '#shared/frames.ts';
import {
  languageChecks,
  type CellPlace,
  type LanguageHostMethods,
  type LanguageMethods,
} from '#shared/languageMessages.ts';
import { Endpoint, type Handlers } from '#shared/rpc.ts';
import { definitionAt, hoverAt, signatureAt } from './answers.ts';
import type { CellChain } from './cellChain.ts';
import { completionAt, describeCompletion } from './completion.ts';
import { Notebooks } from './notebooks.ts';

/**
 * Answers one client.
 * @param pipe of which the caller sees the end
 * @param end called when nothing that the client sends can be read any more
 */
export function serve(pipe: Duplex, end: () => void): void {
  keepDocsApart();
  const outlined = useOwnOutlines();
  const notebooks = new Notebooks({
    publish: (notebook, cell, findings) => {
      // Fails with the pipe, whose end the caller sees.
      client.request('findings', { notebook, cell, findings }).catch(() => {});
    },
    settled: () => outlined.keep(),
  });
  const client = new Endpoint<LanguageMethods, LanguageHostMethods>(
    (frame) => void pipe.write(encodeFrame(frame)),
    checkedHandlers(handlersOf(notebooks), languageChecks, 'the language worker'),
  );
  readFrames(pipe, (message) => void client.receive(message), end);
  client.request('ready', { typescript: ts.version }).catch(() => {});
}

function handlersOf(notebooks: Notebooks): Handlers<LanguageMethods> {
  /** Answers after what came with the question was read: it may be cancelled already, or about a text that comes yet. */
  const about =
    <P extends CellPlace, R>(answer: (chain: CellChain, place: P) => R, unknown: R) =>
    async (place: P, signal: AbortSignal): Promise<R> => {
      await new Promise((resolve) => setImmediate(resolve));
      signal.throwIfAborted();
      const chain = notebooks.use(place.notebook);
      return chain ? answer(chain, place) : unknown;
    };
  return {
    cells: ({ notebook, cells, ...settings }) => (notebooks.setCells(notebook, settings, cells), null),
    text: ({ notebook, cell, text }) => (notebooks.setText(notebook, cell, text), null),
    close: ({ notebook }) => (notebooks.close(notebook), null),
    filesChanged: () => (notebooks.filesChanged(), null),
    complete: about((chain, { cell, offset }) => completionAt(chain, cell, offset), {
      items: [],
      naming: null,
      isKnown: false,
    }),
    describe: about((chain, { cell, offset, name }) => describeCompletion(chain, cell, offset, name), null),
    hover: about((chain, { cell, offset }) => hoverAt(chain, cell, offset), null),
    signature: about((chain, { cell, offset, ...reason }) => signatureAt(chain, cell, offset, reason), null),
    definition: about((chain, { cell, offset }) => definitionAt(chain, cell, offset), null),
  };
}
