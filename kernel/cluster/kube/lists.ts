import { listAt, textAt } from './fields.ts';
import type { KubeReads } from './kubeReads.ts';

/** Objects a request: large enough for most clusters in one, small enough for a reply of some MiB. */
const pageSize = 500;

/** Every object of a list, page by page. @throws ClusterError */
export async function listAll(kube: KubeReads, path: string): Promise<readonly unknown[]> {
  const items: unknown[] = [];
  let next: string | undefined;
  do {
    const query = new URLSearchParams({ limit: String(pageSize), ...(next === undefined ? {} : { continue: next }) });
    const page = await kube.get(`${path}${path.includes('?') ? '&' : '?'}${query.toString()}`);
    items.push(...listAt(page, 'items'));
    next = textAt(page, 'metadata', 'continue');
  } while (next !== undefined);
  return items;
}
