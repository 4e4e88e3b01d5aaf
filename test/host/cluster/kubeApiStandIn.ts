import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import type { KubeObject } from '../../cluster/parts/kubeApi.ts';
import { kuberay } from '../../cluster/parts/sound/kuberay.ts';
import { names } from '../../cluster/parts/sound/names.ts';
import { nodes } from '../../cluster/parts/sound/nodes.ts';
import { rights } from '../../cluster/parts/sound/rights.ts';
import { makeCertificate } from '../../contract/serve/certificate.ts';
import { definitions, KubeObjects, type Named } from './kubeObjects.ts';

type Reply = readonly [status: number, body: unknown];

/**
 * Stands in for a Kubernetes API server, because tests of a window can't build a real one. It has the objects of the
 * tests' sound cluster, supports the reads of a user, checks permissions by the rules of cluster roles, and accepts
 * objects by apply. test/cluster tests checks and fixes with the real server; these tests are about VS Code.
 */
export class KubeApiStandIn {
  readonly objects: KubeObjects;
  /** The received requests, such as `GET /version`. */
  readonly asked: string[] = [];
  /** Path of a kubeconfig for this server. */
  readonly kubeconfig: string;
  readonly address: string;
  readonly #server: Server;
  readonly #held: (() => void)[] = [];
  /** Whether the user may change objects. */
  mayChange = true;
  /** The error message of every response; undefined if the server works. */
  failure: string | undefined;
  #isHeld: ((asked: string) => boolean) | undefined;

  /** @param folder the folder for the server's certificate and kubeconfig */
  static async start(folder: string): Promise<KubeApiStandIn> {
    const { cert, key } = makeCertificate(folder, 'kube');
    const server = createServer({ cert: readFileSync(cert), key: readFileSync(key) });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return new KubeApiStandIn(server, folder, cert);
  }

  private constructor(server: Server, folder: string, cert: string) {
    this.#server = server;
    this.address = `https://127.0.0.1:${(server.address() as AddressInfo).port}`;
    this.objects = new KubeObjects([...rights, ...nodes, ...kuberay, ...definitions]);
    this.kubeconfig = join(folder, 'kubeconfig.json');
    writeFileSync(this.kubeconfig, JSON.stringify(kubeconfigOf(this.address, readFileSync(cert))), { mode: 0o600 });
    server.on('request', (request: IncomingMessage, response: ServerResponse) => void this.#take(request, response));
  }

  /** Delays the responses to matching requests until it is called again without an argument. */
  hold(isHeld?: (asked: string) => boolean): void {
    this.#isHeld = isHeld;
    if (!isHeld) for (const go of this.#held.splice(0)) go();
  }

  async stop(): Promise<void> {
    this.hold();
    this.#server.closeAllConnections();
    this.#server.close();
    await once(this.#server, 'close');
  }

  async #take(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { method = 'GET', url = '/' } = request;
    const asked = `${method} ${url}`;
    this.asked.push(asked);
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    if (this.#isHeld?.(asked) === true) await new Promise<void>((resolve) => this.#held.push(resolve));
    const text = Buffer.concat(chunks).toString('utf8');
    const isKnown = request.headers.authorization === `Bearer ${token}`;
    const [status, body] = isKnown
      ? this.#answer(method, new URL(url, this.address), text === '' ? undefined : (JSON.parse(text) as KubeObject))
      : refusal(401, 'Unauthorized');
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
  }

  #answer(method: string, url: URL, body: KubeObject | undefined): Reply {
    const { pathname, searchParams } = url;
    if (pathname === '/version')
      return [200, { major: '1', minor: '30', gitVersion: 'v1.30.14', platform: 'linux/amd64' }];
    const group = /^\/(?:api\/v1|apis\/[^/]+\/[^/]+)$/.exec(pathname);
    if (group) return [200, { kind: 'APIResourceList', resources: this.objects.resources(pathname) }];
    if (this.failure !== undefined) return refusal(500, this.failure);
    const named = namedBy(pathname);
    if (!named) return refusal(404, 'the server could not find the requested resource');
    if (method === 'POST' && body) return this.#review(named, body);
    if (method === 'PATCH' && !this.mayChange)
      return refusal(403, `${named.plural} "${named.name}" is forbidden: User "alice" cannot patch it`);
    if (method === 'PATCH' && body) {
      const applied = this.objects.merged(body);
      if (searchParams.get('dryRun') !== 'All') this.objects.put(applied);
      return [200, applied];
    }
    if (named.name === undefined) return [200, this.objects.list(named, searchParams.get('labelSelector'))];
    const found = this.objects.get(named);
    return found ? [200, found] : refusal(404, `${named.plural} "${named.name}" not found`);
  }

  #review({ plural, rest }: Named, body: KubeObject): Reply {
    if (plural === 'selfsubjectreviews')
      return [201, { ...body, status: { userInfo: { username: 'alice', groups: ['devs', 'system:authenticated'] } } }];
    if (rest === 'token')
      return [201, { ...body, status: { token: `e30.${Buffer.from('{"sub":"x"}').toString('base64url')}.` } }];
    const user = plural === 'subjectaccessreviews' ? String(body['spec'].user) : 'alice';
    const allowed = this.objects.may(user, body['spec'].resourceAttributes as Record<string, string>);
    return [201, { ...body, status: { allowed } }];
  }
}

/** The token of the kubeconfig. No report may contain this token. */
export const token = 'stand-in-token-7f3a9c';

const kubeconfigOf = (server: string, ca: Buffer): object => ({
  apiVersion: 'v1',
  kind: 'Config',
  'current-context': 'test',
  clusters: [{ name: 'test', cluster: { server, 'certificate-authority-data': ca.toString('base64') } }],
  users: [{ name: 'alice', user: { token } }],
  contexts: [{ name: 'test', context: { cluster: 'test', user: 'alice', namespace: names.namespace } }],
});

const refusal = (code: number, message: string): Reply => [code, { kind: 'Status', status: 'Failure', message, code }];

/** Parses a path such as `/apis/ray.io/v1/namespaces/geneva/rayclusters/one`. */
function namedBy(path: string): Named | undefined {
  const match = /^\/(api\/v1|apis\/([^/]+)\/[^/]+)\/(?:namespaces\/([^/]+)\/)?([^/]+)(?:\/([^/]+))?(?:\/(.+))?$/.exec(
    path,
  );
  if (!match) return undefined;
  const [, root = '', group = '', namespace, plural = '', name, rest] = match;
  return { root, group, namespace, plural, name, rest };
}
