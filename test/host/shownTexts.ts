import assert from 'node:assert/strict';
import * as vscode from 'vscode';
import { PersonStandIn } from './person.ts';

/** VS Code's rule for a link in a message, from its `parseLinkedText`. */
const link = /\[([^\]]+)\]\(((?:https?:\/\/|command:|file:)[^)\s]+)(?: (["'])(.+?)(\3))?\)/i;
/** VS Code's rule for an icon in a label, from its `renderLabelWithIcons`. */
const icon = /\$\([a-z][\w-]*(?:~[a-z]+)?\)/gi;

/** Returns a name or an error of an attacker: a click on it would run a command. */
export const hostile = (label: string): string => `[${label}](command:evil) $(${label})`;

/** Stands in for the user and for the window, whose content host tests can't read. Collects all texts. */
export class ShownTexts {
  readonly texts: string[] = [];
  readonly #person: PersonStandIn;

  constructor(does: ConstructorParameters<typeof PersonStandIn>[0] = {}) {
    this.#person = new PersonStandIn(does);
  }

  async during(act: () => Promise<unknown>): Promise<void> {
    const { showErrorMessage, showInformationMessage, setStatusBarMessage, withProgress, showInputBox } = vscode.window;
    const keep = (text: string): Promise<undefined> => (this.texts.push(text), Promise.resolve(undefined));
    Object.assign(vscode.window, {
      showErrorMessage: keep,
      showInformationMessage: keep,
      setStatusBarMessage: keep,
      showInputBox: ({ title = '', prompt = '' }: vscode.InputBoxOptions) => (void keep(title), keep(prompt)),
      withProgress: (options: vscode.ProgressOptions, task: Parameters<typeof withProgress>[1]) => {
        void keep(options.title ?? '');
        return task({ report: ({ message = '' }) => void keep(message) }, new vscode.CancellationTokenSource().token);
      },
    });
    try {
      await this.#person.during(act);
    } finally {
      Object.assign(vscode.window, {
        showErrorMessage,
        showInformationMessage,
        setStatusBarMessage,
        withProgress,
        showInputBox,
      });
    }
    const { boxes, questions, lists } = this.#person;
    this.texts.push(
      ...boxes.flatMap(({ title, prompt, said }) => [title, prompt, ...said]),
      ...questions.flatMap(({ message, detail }) => [message, detail]),
    );
    this.addLists(lists);
  }

  /** Adds the titles and rows of lists that were shown. */
  addLists(lists: readonly { readonly title: string; readonly labels: readonly string[] }[]): void {
    for (const { title, labels } of lists) {
      // The icon before a label comes from the extension.
      this.texts.push(title, ...labels.map((label) => label.replace(/^\$\([\w-]+\) /, '')));
    }
  }

  /** Checks that the attacker's text was shown, and contains no link or icon. */
  areInert(...labels: readonly string[]): void {
    const flat = this.texts.map((text) => text.replaceAll(/\r\n|\r|\n/g, ' '));
    assert.deepEqual(
      flat.filter((text) => link.test(text) || icon.test(text)),
      [],
    );
    const visible = flat.map((text) => text.replaceAll('\u2060', ''));
    for (const label of labels)
      assert.ok(
        visible.some((text) => text.includes(`[${label}](command:`)),
        `${label} is shown as it is: ${JSON.stringify(visible)}`,
      );
  }
}
