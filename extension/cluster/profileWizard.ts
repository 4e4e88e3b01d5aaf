import { profileFields } from '#cluster/profiles/profileFields.ts';
import type { Ask, Question } from '../host/askStep.ts';

/**
 * A profile while the user enters it: known facts about the cluster and user input. Empty strings are missing values.
 */
export type ProfileDraft = {
  /** The fields from the kubeconfig, in the form of the setting. */
  readonly base: Readonly<Record<string, unknown>>;
  /** Whether AWS provides the address of the cluster instead of a kubeconfig. */
  readonly isEks: boolean;
  readonly clusterName: string;
  readonly region: string;
  readonly roleName: string;
  readonly namespace: string;
  readonly serviceAccount: string;
  readonly storage: string;
  readonly name: string;
};

/** The defaults of namespace and service account are the names in the upstream guides. */
export const emptyDraft: ProfileDraft = {
  base: {},
  isEks: false,
  clusterName: '',
  region: '',
  roleName: '',
  namespace: profileFields.namespace.default,
  serviceAccount: profileFields.serviceAccount.default,
  storage: '',
  name: '',
};

type Step = Exclude<keyof ProfileDraft, 'base' | 'isEks'>;

const commonSteps: readonly Step[] = ['namespace', 'serviceAccount', 'storage', 'name'];
const eksSteps: readonly Step[] = ['clusterName', 'region', 'roleName', ...commonSteps];

type ProfileWizardDeps = {
  readonly ask: Ask;
  readonly existing: readonly string[];
};

/**
 * Prompts for the parts of a profile, one step each; "Back" keeps what was entered.
 * @returns `undefined` if the user cancels
 */
export async function askProfile(
  draft: ProfileDraft,
  { ask, existing }: ProfileWizardDeps,
): Promise<ProfileDraft | undefined> {
  const steps = draft.isEks ? eksSteps : commonSteps;
  let current = draft;
  for (let at = 0; at < steps.length;) {
    const name = steps[at] ?? 'name';
    const step = { number: at + 1, of: steps.length };
    const answer = await ask({ title: 'New Cluster Profile', step, ...questions[name](current, existing) });
    if (answer === undefined) return undefined;
    if (typeof answer === 'string') {
      at = Math.max(0, at - 1);
      continue;
    }
    current = { ...current, [name]: answer.value.trim() };
    at++;
  }
  return current;
}

export function settingOf(draft: ProfileDraft): Record<string, unknown> {
  const { base, isEks, clusterName, region, roleName, namespace, serviceAccount, storage } = draft;
  return {
    ...base,
    ...(isEks && { configMethod: 'EKS_AUTH', clusterName, region, roleName }),
    namespace,
    serviceAccount,
    ...(storage !== '' && { storage }),
  };
}

export function freeProfileName(wanted: string, existing: readonly string[]): string {
  const base = wanted.trim() || 'cluster';
  if (!existing.includes(base)) return base;
  for (let number = 2; ; number++) if (!existing.includes(`${base}-${number}`)) return `${base}-${number}`;
}

const questions: Record<Step, (draft: ProfileDraft, existing: readonly string[]) => Omit<Question, 'title'>> = {
  clusterName: ({ clusterName }) => ({
    prompt: 'The name of the EKS cluster',
    value: clusterName,
    check: (typed) => required(typed, 'Type the name of the cluster, as in "aws eks list-clusters".'),
  }),
  region: ({ region }) => ({
    prompt: 'The AWS region of the cluster',
    placeHolder: 'eu-west-1',
    value: region,
    check: (typed) => (/^[a-z]{2}(-[a-z]+)+-\d$/.test(typed.trim()) ? undefined : 'Type a region such as eu-west-1.'),
  }),
  roleName: ({ roleName }) => ({
    prompt:
      'Name or ARN of the role to assume. This role can start clusters; it is not the role of the service account.',
    placeHolder: 'geneva-client-role',
    value: roleName,
    check: (typed) => required(typed, 'Type the name or the ARN of a role.'),
  }),
  namespace: ({ namespace }) => ({
    prompt: 'The Kubernetes namespace that jobs run in',
    placeHolder: 'geneva',
    value: namespace,
    check: nameProblem,
  }),
  serviceAccount: ({ serviceAccount }) => ({
    prompt: 'The Kubernetes service account that jobs run under',
    placeHolder: 'geneva-service-account',
    value: serviceAccount,
    check: nameProblem,
  }),
  storage: ({ storage }) => ({
    prompt: 'Bucket and path of the tables. Leave it empty to skip the storage checks.',
    placeHolder: 's3://bucket/path or gs://bucket/path',
    value: storage,
    check: (typed) =>
      typed.trim() === '' || /^(s3|gs):\/\/[a-z0-9][a-z0-9._-]+(\/.*)?$/.test(typed.trim())
        ? undefined
        : 'Type an address such as s3://bucket/path or gs://bucket/path.',
  }),
  name: ({ name }, existing) => ({
    prompt: 'Name of this profile. It is saved in your settings, without secrets.',
    value: freeProfileName(name, existing),
    check: (typed) =>
      existing.includes(typed.trim())
        ? `The profile "${typed.trim()}" already exists. Type another name.`
        : required(typed, 'Type a name.'),
  }),
};

const required = (typed: string, hint: string): string | undefined => (typed.trim() === '' ? hint : undefined);

/** Returns the error message for a name that Kubernetes would reject, else `undefined`. */
const nameProblem = (typed: string): string | undefined =>
  /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/.test(typed.trim())
    ? undefined
    : 'Type a Kubernetes name of lowercase letters, digits and dashes.';
