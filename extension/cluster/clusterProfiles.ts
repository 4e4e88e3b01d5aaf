import * as vscode from 'vscode';
import { ClusterError } from '#cluster/errors.ts';
import type { ClusterProfile } from '#cluster/profile.ts';
import { readProfile } from '#cluster/profiles/profileReader.ts';
import { messageOf } from '#shared/errors.ts';
import { withRemedy } from '../host/errorAction.ts';
import { fieldsOf } from '#shared/records.ts';
import { onDidChangeSetting, setting, settingIn, writeSetting, type SettingPlace } from '../host/settings.ts';

const settingId = 'lanceCatalog.cluster.profiles';

/** A profile of the setting, or why what is written there is none. */
export type ListedProfile =
  { readonly name: string; readonly profile: ClusterProfile } | { readonly name: string; readonly problem: string };

/** The clusters that a person has set up, from the settings of the person and of the workspace. No secret is in them. */
export class ClusterProfiles implements vscode.Disposable {
  readonly #changed = new vscode.EventEmitter<void>();
  readonly onDidChange = this.#changed.event;
  readonly #listening: vscode.Disposable;

  constructor() {
    this.#listening = onDidChangeSetting(settingId, () => this.#changed.fire());
  }

  list(): readonly ListedProfile[] {
    return Object.entries(this.written()).map(([name, value]) => {
      try {
        return { name, profile: readProfile(name, value, openedFolder()) };
      } catch (error) {
        return { name, problem: messageOf(error) };
      }
    });
  }

  /** What is written in the settings, as it is. */
  written(): Readonly<Record<string, unknown>> {
    return fieldsOf(setting(settingId));
  }

  /** What one of the settings files says alone. */
  writtenIn(place: SettingPlace): Readonly<Record<string, unknown>> {
    return fieldsOf(settingIn(settingId, place));
  }

  /** @throws ClusterError ProfileInvalid for a name that is not there, and for a profile that cannot be read */
  get(name: string): ClusterProfile {
    const written = this.written();
    if (Object.hasOwn(written, name)) {
      try {
        return readProfile(name, written[name], openedFolder());
      } catch (error) {
        throw withRemedy(error, { title: 'Edit Profiles', command: 'lanceCatalog.cluster.editProfiles' });
      }
    }
    const names = Object.keys(written);
    const known =
      names.length > 0
        ? `There ${names.length > 1 ? 'are' : 'is'} ${names.map((one) => `"${one}"`).join(', ')}.`
        : 'There is none yet.';
    throw new ClusterError(
      'ProfileInvalid',
      `There is no cluster profile "${name}". ${known}`,
      'Make one by "New Cluster Profile…".',
    );
  }

  /** Writes a profile into the settings, beside those that are there. */
  async add(name: string, value: Readonly<Record<string, unknown>>, place: SettingPlace): Promise<void> {
    await writeSetting(settingId, { ...this.writtenIn(place), [name]: value }, place);
  }

  dispose(): void {
    this.#listening.dispose();
    this.#changed.dispose();
  }
}

/** Where a relative path of a kubeconfig begins. */
const openedFolder = (): string | undefined => vscode.workspace.workspaceFolders?.[0]?.uri.fsPath;
