import * as vscode from 'vscode';

/** A list as it was shown. */
type ShownList = { readonly title: string; readonly step: string; readonly labels: readonly string[] };

/**
 * Stands in for the user in lists that are steps of a wizard, which VS Code's API can't simulate. Chooses the rows with
 * these labels, in order.
 */
export function chooseInLists(picks: readonly string[]): vscode.Disposable & { readonly shown: readonly ShownList[] } {
  const { createQuickPick } = vscode.window;
  const shown: ShownList[] = [];
  const left = [...picks];
  const create = (): vscode.QuickPick<vscode.QuickPickItem> => {
    const list = createQuickPick();
    const [accepted, hidden] = [new vscode.EventEmitter<void>(), new vscode.EventEmitter<void>()];
    let selected: readonly vscode.QuickPickItem[] = [];
    const standIn = Object.create(list, {
      items: { value: [], writable: true },
      title: { value: '', writable: true },
      step: { value: undefined, writable: true },
      totalSteps: { value: undefined, writable: true },
      buttons: { value: [], writable: true },
      ignoreFocusOut: { value: false, writable: true },
      matchOnDescription: { value: false, writable: true },
      selectedItems: { get: () => selected },
      onDidAccept: { value: accepted.event },
      onDidHide: { value: hidden.event },
      onDidTriggerButton: { value: new vscode.EventEmitter<vscode.QuickInputButton>().event },
      show: {
        value: () => {
          const { title = '', step = 0, totalSteps = 0, items } = standIn;
          shown.push({ title, step: `${step}/${totalSteps}`, labels: items.map(({ label }) => label) });
          const wanted = left.shift();
          selected = items.filter(({ label }) => wanted !== undefined && label.includes(wanted)).slice(0, 1);
          setTimeout(() => (selected.length > 0 ? accepted.fire() : hidden.fire()), 0);
        },
      },
      hide: { value: () => hidden.fire() },
      dispose: { value: () => list.dispose() },
    }) as vscode.QuickPick<vscode.QuickPickItem>;
    return standIn;
  };
  Object.assign(vscode.window, { createQuickPick: create });
  return { shown, dispose: () => void Object.assign(vscode.window, { createQuickPick }) };
}
