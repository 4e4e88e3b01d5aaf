import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { Agent, request } from 'undici';
import { type DefinitionVersion, kuberayDefinitions, kuberayDefinitionsOf } from '../../harness/needs/kubeNeeds.ts';
import type { Certificate } from './pki.ts';
import { until } from './processes.ts';

/** An object as sent to or received from the API server. */
export type KubeObject = {
  apiVersion: string;
  kind: string;
  metadata: {
    name: string;
    namespace?: string;
    labels?: Record<string, string>;
    annotations?: Record<string, string>;
    resourceVersion?: string;
    [field: string]: unknown;
  };
  // oxlint-disable-next-line typescript/no-explicit-any -- tests write and read the fields of many kinds
  [field: string]: any;
};

/** An error response of an API server, with its status code. */
export class KubeRefusal extends Error {
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

type Kind = { readonly plural: string; readonly namespaced: boolean; readonly hasStatus: boolean };

/**
 * A minimal client of the Kubernetes API. Tests use it for their setup, so that the setup does not depend on the code
 * under test.
 */
export class KubeApi {
  readonly address: string;
  readonly #agent: Agent;
  readonly #kinds = new Map<string, Map<string, Kind>>();

  constructor(address: string, ca: string, { cert, key }: Certificate) {
    this.address = address;
    this.#agent = new Agent({ connect: { ca, cert, key } });
  }

  /**
   * Sends a request. A string body, such as YAML, is sent unchanged.
   * @throws KubeRefusal
   */
  async ask(
    method: string,
    path: string,
    body?: unknown,
    type = 'application/json',
    accept = 'application/json',
  ): Promise<unknown> {
    const { statusCode, body: reply } = await request(`${this.address}${path}`, {
      method: method as 'GET',
      dispatcher: this.#agent,
      headers: { accept, ...(body !== undefined && { 'content-type': type }) },
      ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    });
    const text = await reply.text();
    if (statusCode < 300) return text.startsWith('{') ? (JSON.parse(text) as unknown) : text;
    const message = text.startsWith('{') ? (JSON.parse(text) as { message: string }).message : text;
    throw new KubeRefusal(statusCode, `${method} ${path}: ${statusCode} ${message}`);
  }

  /** Creates or changes objects by server-side apply, and sets `status` as their controller would. */
  async apply(...objects: readonly KubeObject[]): Promise<void> {
    for (const { status, ...object } of objects) {
      const path = await this.pathOf(object);
      await this.ask('PATCH', `${path}?${asTests}`, object, applying);
      if (status !== undefined) await this.setStatus({ ...object, status });
    }
  }

  /** Creates definitions of KubeRay's resources: `rayclusters`, `rayjobs`, … */
  define(...plurals: readonly string[]): Promise<void> {
    return this.#define(kuberayDefinitions, plurals);
  }

  /** Creates the definitions of a version of the operator. */
  defineVersion(version: DefinitionVersion, ...plurals: readonly string[]): Promise<void> {
    return this.#define(kuberayDefinitionsOf(version), plurals);
  }

  async #define(folder: string, plurals: readonly string[]): Promise<void> {
    for (const plural of plurals) {
      const path = await this.pathOf(definitionOf(plural));
      const text = readFileSync(join(folder, `ray.io_${plural}.yaml`), 'utf8');
      await this.ask('PATCH', `${path}?${asTests}`, text, applying);
      await until(`A definition of ${plural} that is served`, async () => {
        const conditions = ((await this.#find(path))?.['status']?.conditions ?? []) as {
          type: string;
          status: string;
        }[];
        return conditions.some(({ type, status }) => type === 'Established' && status === 'True');
      });
    }
  }

  /** Writes an object's status, if its kind has a status subresource. */
  async setStatus(object: KubeObject): Promise<void> {
    if (!(await this.#kindOf(object)).hasStatus) return;
    const path = `${await this.pathOf(object)}/status`;
    await this.ask('PATCH', path, { status: object['status'] }, 'application/merge-patch+json');
  }

  /** Changes the given fields and keeps the others; `null` removes a field (JSON merge patch). */
  async merge(object: KubeObject, change: Readonly<Record<string, unknown>>): Promise<void> {
    await this.ask('PATCH', await this.pathOf(object), change, 'application/merge-patch+json');
  }

  /** Replaces the object with this name, in any state. */
  async replace(object: KubeObject): Promise<void> {
    const path = await this.pathOf(object);
    try {
      await this.ask('PUT', path, object);
    } catch (error) {
      if (!(error instanceof KubeRefusal && error.status === 422)) throw error;
      // Some fields can't be changed, for example those of a running pod or the role of a binding.
      await this.delete(object);
      await this.apply(object);
      return;
    }
    if (object['status'] !== undefined) await this.setStatus(object);
  }

  /** Deletes objects immediately, without a grace period. A missing object is not an error. */
  async delete(...objects: readonly KubeObject[]): Promise<void> {
    for (const object of objects) {
      const path = await this.pathOf(object);
      try {
        await this.ask('DELETE', `${path}?gracePeriodSeconds=0`);
        // Finalize a namespace here, because this cluster has no controller manager that would empty and finalize it.
        if (object.kind === 'Namespace') await this.#finalize(object, path);
        if (object.kind === 'CustomResourceDefinition') await this.#gone(path);
      } catch (error) {
        if (!(error instanceof KubeRefusal && error.status === 404)) throw error;
      }
    }
  }

  /** @returns the object, `undefined` if it does not exist */
  async get(object: KubeObject): Promise<KubeObject | undefined> {
    return this.#find(await this.pathOf(object));
  }

  /**
   * Returns the uid and generation of an object, which change if it is recreated or its spec changes; undefined if it
   * does not exist.
   */
  async generation(object: KubeObject): Promise<string | undefined> {
    const accept = 'application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1';
    const found = await this.#find(await this.pathOf(object), accept);
    return found && `${String(found.metadata['uid'])} ${String(found.metadata['generation'])}`;
  }

  /** Returns all objects of a kind, in all namespaces; none if the kind does not exist. */
  async list(apiVersion: string, kind: string): Promise<KubeObject[]> {
    const { plural } = await this.#kindOf({ apiVersion, kind, metadata: { name: '' } });
    const found = (await this.#find(`${rootOf(apiVersion)}/${plural}`)) as { items: KubeObject[] } | undefined;
    // Add these fields, because the items of a list lack them.
    return (found?.items ?? []).map((item) => ({ ...item, apiVersion, kind }));
  }

  /** Returns a token of a service account, like the token in a pod. */
  async token(namespace: string, name: string, audiences?: readonly string[]): Promise<string> {
    const path = `/api/v1/namespaces/${namespace}/serviceaccounts/${name}/token`;
    const spec = { expirationSeconds: 3600, ...(audiences && { audiences }) };
    const body = { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec };
    return ((await this.ask('POST', path, body)) as { status: { token: string } }).status.token;
  }

  /** `/api/v1/namespaces/geneva/pods/head-0` */
  async pathOf(object: KubeObject): Promise<string> {
    const { plural, namespaced } = await this.#kindOf(object);
    const inside = namespaced ? `/namespaces/${object.metadata.namespace ?? 'default'}` : '';
    return `${rootOf(object.apiVersion)}${inside}/${plural}/${object.metadata.name}`;
  }

  async close(): Promise<void> {
    await this.#agent.destroy();
  }

  async #find(path: string, accept?: string): Promise<KubeObject | undefined> {
    try {
      return (await this.ask('GET', path, undefined, undefined, accept)) as KubeObject;
    } catch (error) {
      if (error instanceof KubeRefusal && error.status === 404) return undefined;
      throw error;
    }
  }

  /** Returns a kind as described by the API server. Repeats the request until a new definition is served. */
  async #kindOf({ apiVersion, kind }: KubeObject): Promise<Kind> {
    for (let attempt = 0; ; attempt++) {
      const kinds = this.#kinds.get(apiVersion) ?? (await this.#readKinds(apiVersion));
      const found = kinds.get(kind);
      if (found) return found;
      this.#kinds.delete(apiVersion);
      if (attempt === 100) throw new Error(`The API server does not know ${kind} of ${apiVersion}.`);
      await pause(100);
    }
  }

  async #readKinds(apiVersion: string): Promise<Map<string, Kind>> {
    type Resource = { name: string; kind: string; namespaced: boolean };
    const reply = (await this.#find(rootOf(apiVersion))) as { resources: Resource[] } | undefined;
    const resources = reply?.resources ?? [];
    const kinds = new Map<string, Kind>();
    for (const { name, kind, namespaced } of resources) {
      if (name.includes('/')) continue;
      kinds.set(kind, {
        plural: name,
        namespaced,
        hasStatus: resources.some((other) => other.name === `${name}/status`),
      });
    }
    this.#kinds.set(apiVersion, kinds);
    return kinds;
  }

  async #gone(path: string): Promise<void> {
    await until('The end of a resource definition', async () => (await this.#find(path)) === undefined);
  }

  async #finalize(object: KubeObject, path: string): Promise<void> {
    const { apiVersion, kind, metadata } = object;
    // Omit the resource version, because the API server has changed the object since it was read.
    await this.ask('PUT', `${path}/finalize`, {
      apiVersion,
      kind,
      metadata: { name: metadata.name },
      spec: { finalizers: [] },
    });
  }
}

const asTests = 'fieldManager=tests&force=true';
const applying = 'application/apply-patch+yaml';

/** Returns the definition of one of KubeRay's resources, without its content. */
export const definitionOf = (plural: string): KubeObject => ({
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: `${plural}.ray.io` },
});

const rootOf = (apiVersion: string): string =>
  apiVersion.includes('/') ? `/apis/${apiVersion}` : `/api/${apiVersion}`;
