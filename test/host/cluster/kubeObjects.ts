import type { KubeObject } from '../../cluster/parts/kubeApi.ts';

/** The parts of an API path. */
export type Named = {
  /** `api/v1` or `apis/apps/v1`. */
  readonly root: string;
  readonly group: string;
  readonly namespace: string | undefined;
  readonly plural: string;
  readonly name: string | undefined;
  /** A subresource, such as `token`. */
  readonly rest: string | undefined;
};

type Rule = { apiGroups?: string[]; resources?: string[]; verbs?: string[] };

const established = { status: { conditions: [{ type: 'Established', status: 'True' }] } };

/** The definitions of KubeRay's resources that checks read. */
export const definitions: readonly KubeObject[] = ['rayclusters', 'rayjobs'].map((plural) => ({
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: `${plural}.ray.io` },
  spec: { group: 'ray.io', names: { plural }, versions: [{ name: 'v1', served: true, storage: true }] },
  ...established,
}));

/** The objects of `KubeApiStandIn`, and the rules of Kubernetes that tests of a window need. */
export class KubeObjects {
  readonly #first: readonly KubeObject[];
  #objects: KubeObject[] = [];

  constructor(objects: readonly KubeObject[]) {
    this.#first = objects;
    this.reset();
  }

  /** Restores the initial objects. */
  reset(): void {
    this.#objects = this.#first.map((object) => structuredClone(object));
  }

  /** Returns an object by kind and name, for a test to change. */
  find(kind: string, name: string): KubeObject {
    const found = this.#objects.find((one) => one.kind === kind && one.metadata.name === name);
    if (!found) throw new Error(`There is no ${kind} ${name}.`);
    return found;
  }

  remove(kind: string, name: string): void {
    this.#objects = this.#objects.filter((one) => one.kind !== kind || one.metadata.name !== name);
  }

  get({ root, plural, namespace, name }: Named): KubeObject | undefined {
    if (plural === 'namespaces' || namespace === undefined) {
      return this.#of(root, plural).find(({ metadata }) => metadata.name === name);
    }
    return this.#of(root, plural).find(({ metadata }) => metadata.name === name && metadata.namespace === namespace);
  }

  list({ root, plural, namespace }: Named, selector: string | null): object {
    const wanted = (selector ?? '').split(',').filter(Boolean);
    const items = this.#of(root, plural).filter(
      ({ metadata }) =>
        (namespace === undefined || metadata.namespace === namespace) &&
        wanted.every((one) => {
          const [key = '', value] = one.split('=');
          const label = metadata.labels?.[key];
          return value === undefined ? label !== undefined : label === value;
        }),
    );
    return { kind: 'List', metadata: { resourceVersion: '1' }, items };
  }

  /** Returns the kinds of a group and version, as in discovery. */
  resources(path: string): readonly object[] {
    const kinds = new Map(
      this.#objects.filter((one) => `/${rootOf(one)}` === path).map((one) => [one.kind, one] as const),
    );
    return [...kinds].map(([kind, one]) => ({
      kind,
      name: pluralOf(kind),
      namespaced: one.metadata.namespace !== undefined,
      verbs: ['get', 'list', 'patch'],
    }));
  }

  /** Merges an applied object into the existing one. Maps are merged, lists are replaced. */
  merged(applied: KubeObject): KubeObject {
    const { kind, metadata } = applied;
    const before = this.#objects.find(
      (one) =>
        one.kind === kind && one.metadata.name === metadata.name && one.metadata.namespace === metadata.namespace,
    );
    return merge(before ?? {}, applied) as KubeObject;
  }

  put(object: KubeObject): void {
    this.#objects = this.#objects.filter(
      (one) =>
        one.kind !== object.kind ||
        one.metadata.name !== object.metadata.name ||
        one.metadata.namespace !== object.metadata.namespace,
    );
    this.#objects.push(object);
  }

  /** Whether the cluster roles of a user or service account allow an action. Roles of groups count for Alice only. */
  may(user: string, access: Readonly<Record<string, string | undefined>>): boolean {
    const { group = '', resource = '', subresource, verb = '' } = access;
    const what = subresource ? `${resource}/${subresource}` : resource;
    return this.#rulesOf(user).some(
      ({ apiGroups, resources, verbs }) => fits(apiGroups, group) && fits(resources, what) && fits(verbs, verb),
    );
  }

  #rulesOf(user: string): readonly Rule[] {
    const [, , namespace, name] = user.split(':');
    const isSubject = (subject: Record<string, string>): boolean =>
      subject['kind'] === 'ServiceAccount'
        ? subject['name'] === name && subject['namespace'] === namespace
        : subject['name'] === user || (subject['kind'] === 'Group' && user === 'alice');
    const roles = this.#objects
      .filter(
        ({ kind, subjects }) => kind === 'ClusterRoleBinding' && (subjects as Record<string, string>[]).some(isSubject),
      )
      .map(({ roleRef }) => String(roleRef.name));
    return this.#objects
      .filter(({ kind, metadata }) => kind === 'ClusterRole' && roles.includes(metadata.name))
      .flatMap(({ rules }) => rules as Rule[]);
  }

  #of(root: string, plural: string): readonly KubeObject[] {
    return this.#objects.filter((one) => rootOf(one) === root && pluralOf(one.kind) === plural);
  }
}

const rootOf = ({ apiVersion }: KubeObject): string =>
  apiVersion.includes('/') ? `apis/${apiVersion}` : `api/${apiVersion}`;

const pluralOf = (kind: string): string => `${kind.toLowerCase()}s`;

function merge(before: unknown, applied: unknown): unknown {
  if (!isMap(before) || !isMap(applied)) return structuredClone(applied);
  const all = new Set([...Object.keys(before), ...Object.keys(applied)]);
  return Object.fromEntries(
    [...all].map((key) => [key, key in applied ? merge(before[key], applied[key]) : structuredClone(before[key])]),
  );
}

const isMap = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const fits = (list: readonly string[] | undefined, one: string): boolean =>
  list !== undefined && (list.includes(one) || list.includes('*'));
