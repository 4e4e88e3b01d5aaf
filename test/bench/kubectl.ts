import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import type { AuditedRequest } from '../cluster/parts/auditLog.ts';
import { kubectlProgram } from '../harness/needs/kubeNeeds.ts';

/**
 * The kubeconfig of the user who runs the checks, and of an administrator who may impersonate users. Where our checks
 * send an access review, kubectl impersonates a user.
 */
export type People = { readonly alice: string; readonly admin: string };

type Attributes = { verb: string; group?: string; resource: string; subresource?: string; namespace?: string };
type Spec = { user?: string; audiences?: string[]; resourceAttributes?: Attributes };

/** Repeats requests to an API server with kubectl, one command per request. @throws Error if a request fails */
export async function askByKubectl(requests: readonly AuditedRequest[], people: People): Promise<void> {
  for (const request of requests)
    await kubectl(commandFor(request), (request.as ?? spec(request).user) ? people.admin : people.alice);
}

/** Lists the permissions of the user in a namespace. */
export async function canIList(namespace: string, kubeconfig: string): Promise<void> {
  await kubectl(['auth', 'can-i', '--list', '--namespace', namespace], kubeconfig);
}

const spec = ({ body }: AuditedRequest): Spec => body ?? {};

/** Returns the kubectl command for the same request. */
function commandFor(request: AuditedRequest): string[] {
  const { verb, uri } = request;
  const path = uri.split('?')[0] ?? uri;
  if (path.endsWith('/selfsubjectreviews')) return ['auth', 'whoami'];
  if (path.endsWith('accessreviews')) return canI(spec(request), request.as);
  const [, namespace, account] = /\/namespaces\/([^/]+)\/serviceaccounts\/([^/]+)\/token$/.exec(path) ?? [];
  if (namespace !== undefined && account !== undefined) {
    const audiences = (spec(request).audiences ?? []).flatMap((audience) => ['--audience', audience]);
    return ['create', 'token', account, '--namespace', namespace, ...audiences];
  }
  if (verb === 'get' || verb === 'list') return ['get', '--raw', uri];
  throw new Error(`Nobody said what kubectl does for ${verb} ${uri}.`);
}

function canI({ user, resourceAttributes }: Spec, as = user): string[] {
  if (resourceAttributes === undefined) throw new Error('A review of other things than resources was asked.');
  const { verb, group, resource, subresource, namespace } = resourceAttributes;
  return [
    'auth',
    'can-i',
    verb,
    group ? `${resource}.${group}` : resource,
    ...(subresource ? ['--subresource', subresource] : []),
    ...(namespace ? ['--namespace', namespace] : ['--all-namespaces']),
    ...(as === undefined ? [] : ['--as', as]),
  ];
}

async function kubectl(args: readonly string[], kubeconfig: string): Promise<void> {
  const program = kubectlProgram();
  if (program === undefined)
    throw new Error('There is no kubectl: put it on PATH, or run "npm run test:cluster", which builds it.');
  try {
    await promisify(execFile)(program, ['--kubeconfig', kubeconfig, ...args], { maxBuffer: 64 << 20 });
  } catch (error) {
    // A refusal and a missing object are valid results, too.
    const { stdout = '', stderr = '' } = error as { stdout?: string; stderr?: string };
    if (stdout.trim() !== 'no' && !stderr.startsWith('Error from server')) throw error;
  }
}
