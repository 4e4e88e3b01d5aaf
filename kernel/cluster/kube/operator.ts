import { tagOf, versionIn, type VersionNumber } from './versionNumbers.ts';
import type { Container, Workload } from './workloads.ts';

/** Whether a Deployment is KubeRay's operator, by what its manifests write on it or by its image. */
export const isOperator = ({ labels, containers }: Workload): boolean =>
  labels['app.kubernetes.io/component'] === 'kuberay-operator' ||
  containers.some(({ image }) => /(?:^|[/_.-])kuberay[/_-](?:\w+[_-])?operator\b/.test(image));

/** The namespaces that an operator watches; none where it watches all. */
export function watchedBy({ containers }: Workload): readonly string[] {
  return containers.flatMap((container) => {
    const said = watchArgument(container) ?? container.variables['WATCH_NAMESPACE'] ?? '';
    return said
      .split(',')
      .map((name) => name.trim())
      .filter((name) => name !== '');
  });
}

/** `--watch-namespace=a,b`, with one dash or two, in one word or two. */
function watchArgument({ words }: Container): string | undefined {
  for (const [index, word] of words.entries()) {
    const parts = /^--?watch-namespace(?:=(.*))?$/.exec(word);
    if (parts) return parts[1] ?? words[index + 1] ?? '';
  }
  return undefined;
}

/** By the tag of its image, else by what its chart has written on it. */
export function operatorVersionOf({ containers, labels }: Workload): VersionNumber | undefined {
  const image = (containers.find(({ image: each }) => each.includes('operator')) ?? containers[0])?.image ?? '';
  return (
    versionIn(tagOf(image)) ??
    versionIn(labels['app.kubernetes.io/version']) ??
    versionIn(/^kuberay-operator-(.+)$/.exec(labels['helm.sh/chart'] ?? '')?.[1])
  );
}
