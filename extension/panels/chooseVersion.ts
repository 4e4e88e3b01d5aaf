import { messageIn } from '#shared/nextSteps.ts';
import { inert } from '../host/inertText.ts';
import { createPickList, type PickChoice, setPickChoices } from '../host/messages.ts';
import { type TableVersions, versionChoices, type VersionChoice } from './tableVersions.ts';

/**
 * Lets the user choose the version that a panel shows.
 * @returns undefined if the user cancels, or if the signal aborts
 */
export const chooseVersion = (
  title: string,
  shown: number | undefined,
  read: (signal: AbortSignal) => Promise<TableVersions>,
  signal: AbortSignal,
): Promise<VersionChoice | undefined> =>
  chooseFromVersions({
    title,
    placeholder: 'A version, a tag, or the number of a version',
    choices: (found, typed) => versionChoices(found, shown, typed),
    read,
    signal,
  });

/**
 * Shows a list of the versions, which is filled while it is open.
 * @param options `choices` returns the rows for the versions that were found and the typed text
 * @returns undefined if the user cancels, or if the signal aborts
 */
export function chooseFromVersions<T>({
  title,
  placeholder,
  choices,
  read,
  signal,
}: {
  title: string;
  placeholder: string;
  choices: (found: TableVersions, typed: string) => readonly PickChoice<T>[];
  read: (signal: AbortSignal) => Promise<TableVersions>;
  signal: AbortSignal;
}): Promise<T | undefined> {
  const list = createPickList<T>([]);
  list.title = inert(title);
  list.placeholder = placeholder;
  list.matchOnDescription = true;
  list.ignoreFocusOut = false;
  list.busy = true;
  const closing = new AbortController();
  let found: TableVersions = { versions: [], tags: {} };
  const draw = (): void => setPickChoices(list, choices(found, list.value));
  const fill = async (): Promise<void> => {
    found = await read(AbortSignal.any([signal, closing.signal])).catch((error: unknown): TableVersions => ({
      versions: [],
      tags: {},
      problem: messageIn('editor', error),
    }));
    if (closing.signal.aborted) return;
    list.busy = false;
    draw();
  };
  void fill();
  return new Promise((resolve) => {
    const hide = (): void => list.hide();
    signal.addEventListener('abort', hide, { once: true });
    list.onDidChangeValue(draw);
    list.onDidAccept(() => {
      const [chosen] = list.selectedItems;
      if (!chosen) return;
      resolve(chosen.value);
      list.hide();
    });
    list.onDidHide(() => {
      signal.removeEventListener('abort', hide);
      closing.abort();
      resolve(undefined);
      list.dispose();
    });
    list.show();
  });
}
