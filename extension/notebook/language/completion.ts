import * as vscode from 'vscode';
import { type CellItem, describe, itemOfKernel, itemOfName, itemOfWorker } from './items.ts';
import { kernelAloneMilliseconds, kernelMilliseconds } from './kernelCompletions.ts';
import { cellPosition } from './notebooks.ts';
import { signalOf, withTimeout } from './requests.ts';
import type { CellLanguage } from './cellLanguage.ts';

export function cellCompletion(language: CellLanguage): vscode.CompletionItemProvider<CellItem> {
  const { notebooks, worker, mute, kernels, names, types, others } = language;
  return {
    async provideCompletionItems(document, position, token, { triggerCharacter }) {
      const notebook = others.isOwn(document, position) ? undefined : notebooks.of(document);
      if (!notebook) return undefined;
      types.use(notebook);
      const signal = signalOf(token);
      const place = cellPosition(notebook, document, position);
      const asked = worker.process;
      const wait = asked ? kernelMilliseconds : kernelAloneMilliseconds;
      const [answer, kernel, known] = await Promise.all([
        asked?.request('complete', place, signal).catch(() => undefined),
        withTimeout(
          wait,
          kernels.ask(notebook, (one) => one.complete(document.getText(), place.offset, signal)),
        ),
        mute.isProven ? new Set<string>() : others.completions(document, position, triggerCharacter),
      ]);
      const items = (answer?.items ?? []).map((one) => itemOfWorker(document, place, one));
      if (answer?.naming) {
        const { naming } = answer;
        const fitting = await names.fitting(notebook, naming, signal);
        items.push(...fitting.map((one, i) => itemOfName(document, naming, one, i)));
      }
      if (known.size === 0 && items.length > 0) mute.prove();
      const taken = new Set([...known, ...items.map(labelOf)]);
      if (kernel) {
        const range = new vscode.Range(document.positionAt(kernel.cursorStart), document.positionAt(kernel.cursorEnd));
        for (const match of kernel.matches) if (!taken.has(match.text)) items.push(itemOfKernel(match, range));
      }
      // While VS Code's own TypeScript is not muted, drop the items that VS Code's own TypeScript also returns.
      return items.filter((item) => !known.has(labelOf(item)));
    },
    async resolveCompletionItem(item, token) {
      const { place, label } = item;
      const name = typeof label === 'string' ? label : label.label;
      const details =
        place && (await worker.process?.request('describe', { ...place, name }, signalOf(token)).catch(() => null));
      if (details) describe(item, details);
      return item;
    },
  };
}

const labelOf = ({ label }: vscode.CompletionItem): string => (typeof label === 'string' ? label : label.label);
