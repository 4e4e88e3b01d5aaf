import * as vscode from 'vscode';
import { ClusterError } from '#cluster/errors.ts';
import type { ClusterProfile } from '#cluster/profile.ts';
import { readProfile } from '#cluster/profiles/profileReader.ts';
import { messageOf } from '#shared/errors.ts';
import { withErrorAction } from '../host/errorAction.ts';
import { asRecord } from '#shared/records.ts';
import { onDidChangeSetting, setting, settingIn, writeSetting, type SettingPlace } from '../host/settings.ts';

const settingId = 'lanceCatalog.cluster.profiles';

/** A profile of the setting, or the reason why the profile is not valid. */
export type ListedProfile =
  { readonly name: string; readonly profile: ClusterProfile } | { readonly name: string; readonly problem: string };

/** The cluster profiles in the user's and the workspace's settings. They contain no secrets. */
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

  written(): Readonly<Record<string, unknown>> {
    return asRecord(setting(settingId));
  }

  writtenIn(place: SettingPlace): Readonly<Record<string, unknown>> {
    return asRecord(settingIn(settingId, place));
  }

  /** @throws ClusterError ProfileInvalid if the profile does not exist or is not valid */
  get(name: string): ClusterProfile {
    const written = this.written();
    if (Object.hasOwn(written, name)) {
      try {
        return readProfile(name, written[name], openedFolder());
      } catch (error) {
        throw withErrorAction(error, { title: 'Edit Profiles', command: 'lanceCatalog.cluster.editProfiles' });
      }
    }
    const names = Object.keys(written);
    const known =
      names.length > 0 ? `Existing profiles: ${names.map((one) => `"${one}"`).join(', ')}.` : 'No profile exists yet.';
    throw new ClusterError(
      'ProfileInvalid',
      `The cluster profile "${name}" does not exist. ${known}`,
      'Create one with "New Cluster Profile…".',
    );
  }

  /** Adds a profile to the settings, or replaces the profile of that name. */
  async add(name: string, value: Readonly<Record<string, unknown>>, place: SettingPlace): Promise<void> {
    await writeSetting(settingId, { ...this.writtenIn(place), [name]: value }, place);
  }

  dispose(): void {
    this.#listening.dispose();
    this.#changed.dispose();
  }
}

/** Base of relative kubeconfig paths. */
const openedFolder = (): string | undefined => vscode.workspace.workspaceFolders?.[0]?.uri.fsPath;
