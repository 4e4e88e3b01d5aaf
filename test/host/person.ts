import * as vscode from 'vscode';

/** The input of a user in a box: a text and Enter, or Escape (`null`). */
export type Typed = string | null;

/** One box as it was shown, with its messages about the typed text. */
export type ShownBox = { title: string; prompt: string; value: string; isSecret: boolean; said: string[] };

/**
 * Stands in for the user at the keyboard, which VS Code's API can't simulate. It responds to boxes, lists and dialogs
 * in order, as listed, and records them. The tests in the browser use a real keyboard.
 */
export class PersonStandIn {
  readonly boxes: ShownBox[] = [];
  readonly questions: { message: string; detail: string; choices: string[]; isModal: boolean }[] = [];
  /** The lists as they were shown: titles and labels. */
  readonly lists: { title: string; labels: string[] }[] = [];
  /** For each path typed into the box for a folder, the labels of the first row. */
  readonly paths: string[][] = [];
  readonly #pathsToType: string[];
  readonly #typed: Typed[];
  readonly #chosen: (string | undefined)[];
  readonly #picked: (string | undefined)[];

  /** @param does.picks the choices in lists: a part of each label, without its icon. `undefined` presses Escape */
  constructor(does: {
    types?: Typed[];
    chooses?: (string | undefined)[];
    picks?: (string | undefined)[];
    paths?: string[];
  }) {
    this.#pathsToType = [...(does.paths ?? [])];
    this.#typed = [...(does.types ?? [])];
    this.#chosen = [...(does.chooses ?? [])];
    this.#picked = [...(does.picks ?? [])];
  }

  /** Runs an action while this user responds to the window. */
  async during(act: () => Promise<unknown>): Promise<void> {
    const { createInputBox, createQuickPick, showWarningMessage, showQuickPick } = vscode.window;
    Object.assign(vscode.window, {
      createInputBox: () => this.#box(createInputBox()),
      createQuickPick: () => this.#pathBox(createQuickPick()),
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
      Object.assign(vscode.window, { createInputBox, createQuickPick, showWarningMessage, showQuickPick });
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

  /** VS Code's own list, which is never shown: types the next path and presses Enter, until the box is hidden. */
  #pathBox(list: vscode.QuickPick<vscode.QuickPickItem>): vscode.QuickPick<vscode.QuickPickItem> {
    const accept = new vscode.EventEmitter<void>();
    const change = new vscode.EventEmitter<string>();
    const hide = new vscode.EventEmitter<void>();
    let [isOpen, isBusy, isShown] = [true, false, false];
    let items: readonly vscode.QuickPickItem[] = [];
    const typeNext = (): void => {
      const next = this.#pathsToType.shift();
      if (next === undefined) return standIn.hide();
      this.paths.push([]);
      standIn.value = next;
      change.fire(next);
      accept.fire();
    };
    const standIn = Object.create(list, {
      value: { value: '', writable: true },
      title: { value: '', writable: true },
      placeholder: { value: '', writable: true },
      ignoreFocusOut: { value: false, writable: true },
      items: {
        get: () => items,
        set: (rows: typeof items) => {
          items = rows;
          const label = rows[0]?.label.replace(/^\$\([\w-]+\) /, '');
          if (rows.length > 1 && label !== undefined) this.paths.at(-1)?.push(label);
        },
      },
      activeItems: { get: () => items.slice(0, 1) },
      busy: {
        get: () => isBusy,
        set: (busy: boolean) => {
          const ended = isBusy && !busy;
          isBusy = busy;
          if (ended) setTimeout(() => isOpen && typeNext(), 0);
        },
      },
      onDidAccept: { value: accept.event },
      onDidChangeValue: { value: change.event },
      onDidHide: { value: hide.event },
      show: {
        value: () => {
          if (!isShown) setTimeout(typeNext, 0);
          isShown = true;
        },
      },
      hide: {
        value: () => {
          if (!isOpen) return;
          isOpen = false;
          hide.fire();
        },
      },
      dispose: { value: () => list.dispose() },
    }) as vscode.QuickPick<vscode.QuickPickItem>;
    return standIn;
  }

  /** VS Code's own box, which is never shown; this class sends its events. */
  #box(box: vscode.InputBox): vscode.InputBox {
    const accept = new vscode.EventEmitter<void>();
    const change = new vscode.EventEmitter<string>();
    const press = new vscode.EventEmitter<vscode.QuickInputButton>();
    const hide = new vscode.EventEmitter<void>();
    const shown: ShownBox = { title: '', prompt: '', value: '', isSecret: false, said: [] };
    let waiting: NodeJS.Timeout | undefined;
    /** Types the next text soon, once: the end of a check may come before it is seen that the box is open after Enter. */
    const typeSoon = (): void => {
      clearTimeout(waiting);
      waiting = setTimeout(() => isOpen && !isBusy && typeNext(), 0);
    };
    const typeNext = (): void => {
      const next = this.#typed.shift() ?? null;
      if (next === null) return standIn.hide();
      standIn.value = next;
      change.fire(next);
      accept.fire();
      // The box is still open and idle, so the typed text was not accepted.
      typeSoon();
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
          // The action failed and the box is still open, so the user continues in it.
          if (ended) typeSoon();
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
