import assert from 'node:assert/strict';
import * as vscode from 'vscode';
import type { CheckId } from '#cluster/checkIds.ts';
import type { CheckReport } from '#cluster/result.ts';
import type { CheckNode } from '../../../extension/cluster/checkRows.ts';
import type { ExtensionApi } from '../../../extension/extension.ts';
import { names } from '../../cluster/parts/sound/names.ts';
import { eventually, run } from '../support.ts';
import type { KubeApiStandIn } from './kubeApiStandIn.ts';

/** Writes the user's profiles, and waits until the extension has read them. */
export async function setProfiles(api: ExtensionApi, profiles: Record<string, unknown> | undefined): Promise<void> {
  const settings = vscode.workspace.getConfiguration();
  await settings.update('lanceCatalog.cluster.profiles', profiles, vscode.ConfigurationTarget.Global);
  const wanted = JSON.stringify(profiles ?? {});
  await eventually('the profiles', () => JSON.stringify(api.cluster.profiles.written()) === wanted);
}

/** Returns a profile for the cluster of a stand-in, in the form of the setting. */
export const profileFor = (kube: KubeApiStandIn): Record<string, unknown> => {
  const { namespace, serviceAccount, rayCluster } = names;
  return { kubeconfig: kube.kubeconfig, namespace, serviceAccount, rayCluster };
};

export type Row = {
  readonly node: CheckNode;
  readonly item: vscode.TreeItem;
  readonly description: string;
  readonly spoken: string;
};

/** Returns the rows of the view as VS Code gets them: each category with its rows. */
export function rowsOf({ cluster: { checksView } }: ExtensionApi): readonly Row[] {
  const look = (node: CheckNode): Row => {
    const item = checksView.getTreeItem(node);
    return { node, item, description: String(item.description), spoken: item.accessibilityInformation?.label ?? '' };
  };
  return checksView.getChildren().flatMap((node) => [look(node), ...checksView.getChildren(node).map(look)]);
}

/** Returns the row of a check. */
export function rowOf(api: ExtensionApi, id: CheckId): Row {
  const found = rowsOf(api).find(({ node }) => node.kind === 'check' && node.id === id);
  assert.ok(found, `${id} is not listed`);
  return found;
}

export async function verify(profile?: string): Promise<CheckReport> {
  const report = (await run('lanceCatalog.cluster.verify', profile === undefined ? undefined : { profile })) as
    CheckReport | undefined;
  assert.ok(report, 'the run gives a report');
  return report;
}

/** Removes a verb from the role of the service account, as after a typing error. */
export function takeVerb(kube: KubeApiStandIn, resource: string, verb: string): void {
  const { rules } = kube.objects.find('ClusterRole', names.role) as unknown as {
    rules: { resources: string[]; verbs: string[] }[];
  };
  const rule = rules.find(({ resources }) => resources.includes(resource));
  assert.ok(rule, `the role has a rule for ${resource}`);
  rule.verbs = rule.verbs.filter((one) => one !== verb);
}
