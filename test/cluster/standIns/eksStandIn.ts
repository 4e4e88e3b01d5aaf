import type { Moto } from '../parts/moto.ts';
import { accessKeyOf, StandInServer, type Answer, type Received } from './standInServer.ts';

export type Entry = {
  type: string;
  kubernetesGroups: string[];
  policies: { policyArn: string; scope: string; namespaces: string[] }[];
};

/** Properties of the cluster. They replace the properties that moto invents. */
export type ClusterFacts = {
  endpoint: string;
  /** The certificate authority as PEM. */
  ca: string;
  issuer: string | undefined;
  status: string;
  authenticationMode: string;
};

/**
 * Stands in for the parts of EKS that moto lacks: access entries and their policies, and a cluster's address,
 * certificate and issuer. The formats are those of EKS; the address, certificate and issuer are those of the tests' API
 * server. moto decides whether a user may describe the cluster and whether a signature is valid.
 */
export class EksStandIn {
  readonly #server: StandInServer;
  readonly entries = new Map<string, Entry>();
  facts: ClusterFacts;
  /** Ids of associations that give service accounts a role without an annotation. */
  readonly podIdentities: string[] = [];
  /** Access keys of users in another account. A request with such a key finds no cluster. */
  readonly foreign = new Set<string>();
  /** Access keys that may not read access entries, or `everybody`. */
  readonly refused = new Set<string>();

  constructor(moto: Moto, facts: ClusterFacts) {
    this.facts = facts;
    this.#server = new StandInServer((received) => this.#answer(received), moto.address);
  }

  get address(): string {
    return this.#server.address;
  }

  start(): Promise<void> {
    return this.#server.start();
  }

  stop(): Promise<void> {
    return this.#server.stop();
  }

  async #answer(received: Received): Promise<Answer | undefined> {
    const [, , clusterName = '', kind, principal = '', of] =
      (received.request.url ?? '').split('?')[0]?.split('/') ?? [];
    if (this.foreign.has(accessKeyOf(received)))
      return refusal(404, 'ResourceNotFoundException', `No cluster found for name: ${clusterName}.`);
    if (kind === undefined) return this.#describe(received);
    if (kind === 'pod-identity-associations')
      return json(200, { associations: this.podIdentities.map((associationId) => ({ associationId, clusterName })) });
    if (kind !== 'access-entries') return undefined;
    const action = of === undefined ? 'DescribeAccessEntry' : 'ListAssociatedAccessPolicies';
    if (this.refused.has(accessKeyOf(received)) || this.refused.has('everybody'))
      return refusal(403, 'AccessDeniedException', `User is not authorized to perform: eks:${action}`);
    const principalArn = decodeURIComponent(principal);
    const entry = this.entries.get(principalArn);
    if (entry === undefined)
      return refusal(
        404,
        'ResourceNotFoundException',
        `The specified principalArn could not be found: ${principalArn}`,
      );
    const { type, kubernetesGroups, policies } = entry;
    if (of === undefined)
      return json(200, {
        accessEntry: { clusterName, principalArn, kubernetesGroups, type, username: principalArn, tags: {} },
      });
    const associatedAccessPolicies = policies.map(({ policyArn, scope, namespaces }) => ({
      policyArn,
      accessScope: { type: scope, namespaces },
    }));
    return json(200, { clusterName, principalArn, associatedAccessPolicies });
  }

  async #describe(received: Received): Promise<Answer> {
    const answer = await this.#server.pass(received);
    // Convert a refusal of moto, because moto uses the XML format of other services.
    if (answer.status === 403)
      return refusal(403, 'AccessDeniedException', 'User is not authorized to perform: eks:DescribeCluster');
    if (answer.status !== 200) return answer;
    const { cluster } = JSON.parse(answer.text) as { cluster: Record<string, unknown> };
    const { endpoint, ca, issuer, status, authenticationMode } = this.facts;
    return json(200, {
      cluster: {
        ...cluster,
        endpoint,
        status,
        certificateAuthority: { data: Buffer.from(ca).toString('base64') },
        accessConfig: { authenticationMode },
        identity: issuer === undefined ? {} : { oidc: { issuer } },
      },
    });
  }
}

const json = (status: number, body: unknown): Answer => ({
  status,
  type: 'application/json',
  text: JSON.stringify(body),
});

/** The SDK reads the error code from the body. */
const refusal = (status: number, code: string, message: string): Answer => json(status, { __type: code, message });
