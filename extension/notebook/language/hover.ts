import * as vscode from 'vscode';
import type { DefinitionTarget } from '#shared/protocol/languageMessages.ts';
import { documentationMarkdown } from '../../host/inertMarkdown.ts';
import { createMarkdown } from '../../host/messages.ts';
import { hoverOf, rangeOf } from './items.ts';
import { kernelAloneMilliseconds, kernelMilliseconds } from './kernelCompletions.ts';
import { cellPosition } from './notebooks.ts';
import { signalOf, withTimeout } from './requests.ts';
import type { CellLanguage } from './cellLanguage.ts';

export function cellHover({ notebooks, worker, mute, kernels, others }: CellLanguage): vscode.HoverProvider {
  return {
    async provideHover(document, position, token) {
      const notebook = others.isOwn(document, position) ? undefined : notebooks.of(document);
      if (!notebook) return undefined;
      const signal = signalOf(token);
      const place = cellPosition(notebook, document, position);
      const asked = worker.process;
      if (!mute.isAlone && (await others.knowAbout(document, position))) return undefined;
      const answer = await asked?.request('hover', place, signal).catch(() => null);
      if (answer && !isUnknown(answer.code)) return hoverOf(answer, rangeOf(document, answer.span));
      const reply = await withTimeout(
        asked ? kernelMilliseconds : kernelAloneMilliseconds,
        kernels.ask(notebook, (kernel) => kernel.inspect(document.getText(), place.offset, signal)),
      );
      const text = reply?.found ? reply.data['text/plain'] : undefined;
      if (typeof text === 'string') return hoverOf({ code: text, documentation: '' });
      return answer ? hoverOf(answer, rangeOf(document, answer.span)) : undefined;
    },
  };
}

const isUnknown = (code: string): boolean => /: any$|^any$/.test(code);

export function cellSignature({ notebooks, worker, mute }: CellLanguage): vscode.SignatureHelpProvider {
  return {
    async provideSignatureHelp(document, position, token, { isRetrigger, triggerCharacter }) {
      // VS Code shows only the first result that it gets. If its own TypeScript is not muted, that result comes first,
      // so don't send a request to the worker.
      const notebook = mute.isAlone ? notebooks.of(document) : undefined;
      if (!notebook) return undefined;
      const question = {
        ...cellPosition(notebook, document, position),
        isRetrigger,
        trigger: triggerCharacter ?? null,
      };
      const answer = await worker.process?.request('signature', question, signalOf(token)).catch(() => null);
      if (!answer) return undefined;
      const help = new vscode.SignatureHelp();
      help.activeSignature = answer.activeSignature;
      help.activeParameter = answer.activeParameter;
      help.signatures = answer.signatures.map(({ label, documentation, parameters }) => {
        const signature = new vscode.SignatureInformation(label, createMarkdown(documentationMarkdown(documentation)));
        signature.parameters = parameters.map(
          (one) => new vscode.ParameterInformation(one.label, createMarkdown(documentationMarkdown(one.documentation))),
        );
        return signature;
      });
      return help;
    },
  };
}

export function cellDefinition({ notebooks, worker, mute }: CellLanguage): vscode.DefinitionProvider {
  return {
    async provideDefinition(document, position, token) {
      const notebook = mute.isAlone ? notebooks.of(document) : undefined;
      if (!notebook) return undefined;
      const place = cellPosition(notebook, document, position);
      const answer = await worker.process?.request('definition', place, signalOf(token)).catch(() => null);
      if (!answer) return undefined;
      const origin = rangeOf(document, answer.origin);
      const links = await Promise.all(answer.targets.map((target) => linkOf(target, origin)));
      return links.filter((link) => link !== undefined);
    },
  };
}

async function linkOf(target: DefinitionTarget, origin: vscode.Range): Promise<vscode.LocationLink | undefined> {
  if ('cell' in target) {
    const cell = vscode.workspace.textDocuments.find(({ uri }) => uri.toString() === target.cell);
    return cell && { originSelectionRange: origin, targetUri: cell.uri, targetRange: rangeOf(cell, target.span) };
  }
  const start = new vscode.Position(target.line, target.character);
  const end = start.translate(0, target.span.end - target.span.start);
  return {
    originSelectionRange: origin,
    targetUri: vscode.Uri.file(target.file),
    targetRange: new vscode.Range(start, end),
  };
}
