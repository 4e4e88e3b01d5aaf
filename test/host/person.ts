import * as vscode from 'vscode';

/** What a person does in a box: types a text and presses Enter, or leaves with Escape (`null`). */
export type Typed = string | null;

/** One box as it was shown, and what it said about what was typed. */
export type ShownBox = { title: string; prompt: string; value: string; isSecret: boolean; said: string[] };

/**
 * Stands for the person at the keyboard, whom the editor lets no test be: it answers boxes, lists and questions, modal or not, in
 * their order by what is listed, and remembers what it was shown. The tests in the browser type for real.
 */
export class PersonStandIn {
  readonly boxes: ShownBox[] = [];
  readonly questions: { message: string; detail: string; choices: string[]; isModal: boolean }[] = [];
  /** Lists to pick from as they were shown: their titles, and what was in them. */
  readonly lists: { title: string; labels: string[] }[] = [];
  readonly #typed: Typed[];
  readonly #chosen: (string | undefined)[];
  readonly #picked: (string | undefined)[];

  /** @param does.picks of lists: a part of the label, without its icon; `undefined` leaves with Escape */
  constructor(does: { types?: Typed[]; chooses?: (string | undefined)[]; picks?: (string | undefined)[] }) {
    this.#typed = [...(does.types ?? [])];
    this.#chosen = [...(does.chooses ?? [])];
    this.#picked = [...(does.picks ?? [])];
  }

  /** Runs something while this person sits before the window. */
  async during(act: () => Promise<unknown>): Promise<void> {
    const { createInputBox, showWarningMessage, showQuickPick } = vscode.window;
    Object.assign(vscode.window, {
      createInputBox: () => this.#box(createInputBox()),
      showWarningMessage: (message: string, first: vscode.MessageOptions | string, ...others: unknown[]) =>
        typeof first === 'string'
          ? this.#choose(message, {}, [first, ...others])
          : this.#choose(message, first, others),
      showQuickPick: (items: readonly vscode.QuickPickItem[], options: vscode.QuickPickOptions) =>
        this.#pick(items, options),
    });
    try {
      await act();
    } finally {
      Object.assign(vscode.window, { createInputBox, showWarningMessage, showQuickPick });
    }
  }

  #choose(
    message: string,
    { detail = '', modal = false }: vscode.MessageOptions,
    choices: readonly unknown[],
  ): Promise<unknown> {
    const titles = choices.map((one) => (typeof one === 'string' ? one : (one as vscode.MessageItem).title));
    this.questions.push({ message, detail, choices: titles, isModal: modal });
    const wanted = this.#chosen.shift();
    return Promise.resolve(choices[titles.findIndex((title) => title === wanted)]);
  }

  #pick(items: readonly vscode.QuickPickItem[], { title = '' }: vscode.QuickPickOptions): Promise<unknown> {
    this.lists.push({ title, labels: items.map(({ label }) => label) });
    const wanted = this.#picked.shift();
    return Promise.resolve(wanted === undefined ? undefined : items.find(({ label }) => label.includes(wanted)));
  }

  /** The editor's own box, which is never shown: its events come from here. */
  #box(box: vscode.InputBox): vscode.InputBox {
    const accept = new vscode.EventEmitter<void>();
    const change = new vscode.EventEmitter<string>();
    const press = new vscode.EventEmitter<vscode.QuickInputButton>();
    const hide = new vscode.EventEmitter<void>();
    const shown: ShownBox = { title: '', prompt: '', value: '', isSecret: false, said: [] };
    const typeNext = (): void => {
      const next = this.#typed.shift() ?? null;
      if (next === null) return standIn.hide();
      standIn.value = next;
      change.fire(next);
      accept.fire();
      // The box is still there and does nothing: what was typed was not taken.
      setTimeout(() => isOpen && !isBusy && typeNext(), 0);
    };
    let message: vscode.InputBox['validationMessage'];
    let isBusy = false;
    const standIn = Object.create(box, {
      value: { value: '', writable: true },
      onDidAccept: { value: accept.event },
      onDidChangeValue: { value: change.event },
      onDidTriggerButton: { value: press.event },
      onDidHide: { value: hide.event },
      validationMessage: {
        get: () => message,
        set: (said: typeof message) => {
          message = said;
          if (said) shown.said.push(typeof said === 'string' ? said : said.message);
        },
      },
      busy: {
        get: () => isBusy,
        set: (busy: boolean) => {
          const ended = isBusy && !busy;
          isBusy = busy;
          // What was asked failed and the box is still there: the person goes on in it.
          if (ended) setTimeout(() => isOpen && typeNext(), 0);
        },
      },
      title: { value: '', writable: true },
      prompt: { value: '', writable: true },
      placeholder: { value: '', writable: true },
      password: { value: false, writable: true },
      enabled: { value: true, writable: true },
      step: { value: undefined, writable: true },
      totalSteps: { value: undefined, writable: true },
      buttons: { value: [], writable: true },
      ignoreFocusOut: { value: false, writable: true },
      show: {
        value: () => {
          const { title = '', prompt = '', value, password } = standIn;
          Object.assign(shown, { title, prompt, value, isSecret: password });
          this.boxes.push(shown);
          setTimeout(typeNext, 0);
        },
      },
      hide: {
        value: () => {
          if (!isOpen) return;
          isOpen = false;
          hide.fire();
        },
      },
      dispose: { value: () => box.dispose() },
    }) as vscode.InputBox;
    let isOpen = true;
    return standIn;
  }
}
