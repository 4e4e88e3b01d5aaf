import * as vscode from 'vscode';
import type { CheckId } from '#cluster/checkIds.ts';
import type { FixPreview } from '#cluster/fixes/applyFix.ts';

/**
 * URI scheme of the documents of a dry run. A document with a query shows the state before the change. A document
 * without a query shows the state after the change.
 */
export const fixScheme = 'lance-mend';
const beforeQuery = 'before';

/** The fix for a check of a profile, with the changes that a dry run returned. */
export type Proposal = { readonly profile: string; readonly id: CheckId; readonly preview: FixPreview };

/**
 * The documents before and after each proposed change. They are not kept after the window closes. The cluster may
 * change in the meantime, so the user needs a new dry run before applying a fix.
 */
export class FixPreviewProvider implements vscode.TextDocumentContentProvider, vscode.Disposable {
  readonly #texts = new Map<string, string>();
  readonly #proposals = new Map<string, Proposal>();
  readonly #changed = new vscode.EventEmitter<vscode.Uri>();
  readonly onDidChange = this.#changed.event;

  provideTextDocumentContent(uri: vscode.Uri): string {
    const gone = '# This preview no longer exists. Choose "Show Fix" on the check again.\n';
    return this.#texts.get(uri.toString()) ?? gone;
  }

  proposalOf(uri: vscode.Uri): Proposal | undefined {
    return this.#proposals.get(keyOf(uri));
  }

  /** Shows the changes of all objects in one diff editor. */
  async show(title: string, proposal: Proposal): Promise<void> {
    const sides = proposal.preview.objects.map(({ name, before, after }) => {
      const folder = `/${encodeURIComponent(proposal.profile)}/${proposal.id}`;
      const right = vscode.Uri.from({ scheme: fixScheme, path: `${folder}/${name.replaceAll('/', '.')}.yaml` });
      const left = right.with({ query: beforeQuery });
      this.#keep(left, before);
      this.#keep(right, after);
      this.#proposals.set(keyOf(right), proposal);
      return [right, left, right] as const;
    });
    const [only] = sides;
    if (only && sides.length === 1) await vscode.commands.executeCommand('vscode.diff', only[1], only[2], title);
    else await vscode.commands.executeCommand('vscode.changes', title, sides);
  }

  dispose(): void {
    this.#changed.dispose();
  }

  #keep(uri: vscode.Uri, text: string): void {
    this.#texts.set(uri.toString(), text);
    this.#changed.fire(uri);
  }
}

/** Returns the common path of a proposal's documents: profile and check. */
const keyOf = ({ path }: vscode.Uri): string => path.split('/').slice(0, 3).join('/');
