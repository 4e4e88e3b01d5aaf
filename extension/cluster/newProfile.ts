import * as vscode from 'vscode';
import { isClusterError } from '#cluster/errors.ts';
import type { ClusterProfile } from '#cluster/profile.ts';
import { messageOf } from '#shared/errors.ts';
import { pickOne, type Choice } from '../host/ask.ts';
import { askStep } from '../host/askStep.ts';
import type { SettingPlace } from '../host/settings.ts';
import type { ClusterProfiles } from './clusterProfiles.ts';
import { askProfile, emptyDraft, settingOf, type ProfileDraft } from './profileWizard.ts';

/**
 * Prompts for a new profile: cluster, identity of jobs, location of tables. Sends no request to the cluster.
 *
 * @param question title of the first step
 * @returns `undefined` if the user cancels
 */
export async function newProfile(
  profiles: ClusterProfiles,
  question = 'New Cluster Profile: select the cluster',
): Promise<ClusterProfile | undefined> {
  const start = await chooseCluster(question);
  if (!start) return undefined;
  const existing = Object.keys(profiles.written());
  const draft = await askProfile(start, { ask: askStep, existing });
  if (!draft) return undefined;
  const place = await choosePlace();
  if (!place) return undefined;
  await profiles.add(draft.name, settingOf(draft), place);
  return profiles.get(draft.name);
}

type Start = ProfileDraft | 'file';

/** Prompts for a context of a kubeconfig; offers EKS and another file as well. */
async function chooseCluster(question: string, file?: string): Promise<ProfileDraft | undefined> {
  const { listContexts, profileFromContext } = await import('#cluster/entry.ts');
  const choices: Choice<Start>[] = [];
  let problem: string | undefined;
  try {
    for (const context of await listContexts({ kubeconfig: file })) {
      const { name, value } = profileFromContext(context);
      const { namespace = '' } = value;
      choices.push({
        label: context.name,
        icon: 'server-environment',
        description: [context.isCurrent ? 'current' : '', context.server].filter(Boolean).join(' · '),
        value: { ...emptyDraft, base: value, namespace: String(namespace) || emptyDraft.namespace, name },
      });
    }
  } catch (error) {
    // Show `what` without the hint, because the list has only one line for the problem. The next step is to choose a
    // file from this list.
    problem = isClusterError(error) ? error.what : messageOf(error);
  }
  const chosen = await pickOne<Start>(question, [
    ...choices,
    {
      label: 'EKS Cluster with a Role…',
      icon: 'cloud',
      detail: 'Gets the address from AWS. Needs no kubeconfig and no aws command.',
      value: { ...emptyDraft, isEks: true },
    },
    {
      label: 'Kubeconfig File…',
      icon: 'folder-opened',
      ...(problem !== undefined && { detail: problem }),
      value: 'file',
    },
  ]);
  if (chosen !== 'file') return chosen;
  const [uri] = (await vscode.window.showOpenDialog({ title: 'Kubeconfig', openLabel: 'Choose' })) ?? [];
  return uri && chooseCluster(question, uri.fsPath);
}

/** Asks where to save the profile. A window without a folder has only the user settings. */
async function choosePlace(): Promise<SettingPlace | undefined> {
  if ((vscode.workspace.workspaceFolders ?? []).length === 0) return 'person';
  return pickOne<SettingPlace>('New Cluster Profile: select where to save it', [
    {
      label: 'User Settings',
      icon: 'account',
      detail: 'For you, in every window.',
      value: 'person',
    },
    {
      label: 'Workspace Settings',
      icon: 'root-folder',
      detail: 'For every user who opens this folder. A profile contains no secrets.',
      value: 'workspace',
    },
  ]);
}
