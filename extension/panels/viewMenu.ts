import type { SavedView } from '#shared/protocol/panelViews.ts';
import { inert } from '../host/inertText.ts';
import { createPickList, type PickChoice } from '../host/messages.ts';
import { describeView } from './viewDescription.ts';

/** What the user does with the views of a table. */
type ViewChoice =
  | { readonly kind: 'show'; readonly view: SavedView }
  | { readonly kind: 'update' | 'rename' | 'delete'; readonly name: string }
  /**
   * Save what is shown under a new name, as a file, or as the view that is shown; show that view again, or all rows and
   * columns.
   */
  | { readonly kind: 'save' | 'file' | 'updateShown' | 'again' | 'reset' };

type ViewMenu = {
  readonly title: string;
  readonly views: readonly SavedView[];
  /** The view that the panel shows, and whether the user has changed it since. */
  readonly shown: SavedView | undefined;
  readonly isChanged: boolean;
  /** Whether the panel shows all rows and columns. */
  readonly isWhole: boolean;
};

const [update, rename, remove] = ['Update to What Is Shown', 'Rename…', 'Delete…'] as const;

/** Shows the list of views. @returns undefined if the user cancels, or if the signal aborts */
export function chooseSavedView(menu: ViewMenu, signal: AbortSignal): Promise<ViewChoice | undefined> {
  const list = createPickList<ViewChoice>(viewChoices(menu));
  list.title = inert(menu.title);
  list.placeholder = menu.views.length > 0 ? 'Choose a view, or save what is shown' : 'Save what is shown';
  list.matchOnDescription = true;
  list.ignoreFocusOut = false;
  return new Promise((resolve) => {
    const hide = (): void => list.hide();
    const end = (choice: ViewChoice | undefined): void => {
      resolve(choice);
      list.hide();
    };
    signal.addEventListener('abort', hide, { once: true });
    list.onDidAccept(() => {
      const [chosen] = list.selectedItems;
      if (chosen) end(chosen.value);
    });
    list.onDidTriggerItemButton(({ button, item: { value } }) => {
      if (value.kind !== 'show') return;
      const { name } = value.view;
      const kind = button.tooltip === update ? 'update' : button.tooltip === rename ? 'rename' : 'delete';
      end({ kind, name });
    });
    list.onDidHide(() => {
      signal.removeEventListener('abort', hide);
      resolve(undefined);
      list.dispose();
    });
    list.show();
  });
}

/** Returns the rows of the list: what can be done now, then the saved views. */
function viewChoices({ views, shown, isChanged, isWhole }: Omit<ViewMenu, 'title'>): PickChoice<ViewChoice>[] {
  const changed: PickChoice<ViewChoice>[] =
    shown && isChanged
      ? [
          { label: `Update "${shown.name}"`, icon: 'save', value: { kind: 'updateShown' } },
          { label: `Show "${shown.name}" Again`, icon: 'discard', value: { kind: 'again' } },
        ]
      : [];
  const buttons = [
    { icon: 'save', tooltip: update },
    { icon: 'edit', tooltip: rename },
    { icon: 'trash', tooltip: remove },
  ];
  return [
    ...changed,
    { label: 'Save View…', icon: 'add', description: 'filter, order and columns', value: { kind: 'save' } },
    { label: 'Save View as File…', icon: 'file-add', description: 'to share it', value: { kind: 'file' } },
    ...(isWhole ? [] : [{ label: 'Show All Rows and Columns', icon: 'clear-all', value: { kind: 'reset' } } as const]),
    ...views.map((view, index): PickChoice<ViewChoice> => ({
      label: view.name,
      description: describeView(view),
      icon: view === shown && !isChanged ? 'check' : 'list-filter',
      ...(index === 0 && { group: 'Saved views' }),
      buttons,
      value: { kind: 'show', view },
    })),
  ];
}
