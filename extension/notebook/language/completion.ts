import * as vscode from 'vscode';
import { describe, hiddenItem, itemOfKernel, itemOfName, itemOfWorker, type CellItem } from './items.ts';
import { kernelAloneMilliseconds, kernelMilliseconds } from './kernelCompletions.ts';
import { cellPosition } from './notebooks.ts';
import { signalOf, withTimeout } from './requests.ts';
import type { CellLanguage } from './cellLanguage.ts';

export function cellCompletion(language: CellLanguage): vscode.CompletionItemProvider<CellItem> {
  const { notebooks, worker, mute, kernels, names, types, others } = language;
  return {
    async provideCompletionItems(document, position, token, { triggerCharacter }) {
      const notebook = others.isOwn(document, position) ? undefined : notebooks.of(document);
      if (!notebook || (triggerCharacter === ' ' && !isAfterTableKeyword(document, position))) return undefined;
      types.use(notebook);
      const signal = signalOf(token);
      const place = cellPosition(notebook, document, position);
      const asked = worker.process;
      const wait = asked ? kernelMilliseconds : kernelAloneMilliseconds;
      // The worker knows all magics. Its answer must not wait for a busy kernel or for another provider, because Enter may
      // accept an item of the previous list until then.
      const isInMagic = isMagic(document, position);
      const needsKernel = !asked || !isInMagic;
      const [answer, kernel, known] = await Promise.all([
        asked?.request('complete', place, signal).catch(() => undefined),
        needsKernel
          ? withTimeout(
              wait,
              kernels.ask(notebook, (one) => one.complete(document.getText(), place.offset, signal)),
            )
          : undefined,
        mute.isProven || isInMagic ? new Set<string>() : others.completions(document, position, triggerCharacter),
      ]);
      // SQL suggests nothing for a word that is finished, so VS Code asks again at each key.
      let isIncomplete = answer?.isSql === true;
      const items = (answer?.items ?? []).map((one) => itemOfWorker(document, place, one));
      if (answer?.naming) {
        const { naming } = answer;
        const typed = document.getText().slice(naming.start, place.offset);
        const fitting = await names.fitting(notebook, naming, { typed, signal });
        isIncomplete ||= fitting.isPartial;
        items.push(...fitting.names.map((one, i) => itemOfName(document, naming, one, i)));
      }
      if (!isInMagic && known.size === 0 && items.length > 0) mute.prove();
      const taken = new Set([...known, ...items.flatMap((item) => [labelOf(item), textOf(item)])]);
      if (kernel) {
        const range = new vscode.Range(document.positionAt(kernel.cursorStart), document.positionAt(kernel.cursorEnd));
        for (const match of kernel.matches) if (!taken.has(match.text)) items.push(itemOfKernel(match, range));
      }
      // Unless VS Code's own TypeScript is muted, drop the items that it also returns.
      const shown = answer?.isSql ? items : items.filter((item) => !known.has(labelOf(item)));
      const isInWord = /\w$/.test(document.getText().slice(0, place.offset));
      if (answer?.isSql && shown.length === 0 && isInWord) shown.push(hiddenItem());
      return new vscode.CompletionList(shown, isIncomplete);
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

const textOf = ({ insertText }: vscode.CompletionItem): string => (typeof insertText === 'string' ? insertText : '');

/** Whether the name of a magic is typed, or the line of a cell magic. */
const isMagic = (document: vscode.TextDocument, position: vscode.Position): boolean =>
  /^\s*(?:%\w*$|%%)/.test(document.lineAt(position.line).text.slice(0, position.character));

/** Whether a table is expected after a blank that was typed in SQL. Other blanks request no names. */
function isAfterTableKeyword(document: vscode.TextDocument, position: vscode.Position): boolean {
  const before = document.lineAt(position.line).text.slice(0, position.character);
  return /\b(?:from|join) $/i.test(before) && /^\s*%%sql\b/.test(document.getText());
}
