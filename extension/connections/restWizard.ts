import { isCatalogError } from '#shared/errors.ts';
import type { Ask, Question } from '../host/askStep.ts';
import type { ServerSecrets } from '../host/secrets.ts';
import { connectionNameProblem, uniqueName } from './connectionRules.ts';
import {
  addressProblem,
  addressWarning,
  certificateFileProblem,
  cleanAddress,
  endpointProblem,
  tokenProblem,
  headerOf,
  headerProblem,
  restBaseName,
  keyProblem,
  databaseProblem,
} from './restRules.ts';

/** A server connection while the user enters it. Empty strings are missing values. */
export type Draft = {
  uri: string;
  apiKey: string;
  database: string;
  headers: Readonly<Record<string, string>>;
  token: string;
  endpoint: string;
  /** Path of a PEM file. */
  ca: string;
  name: string;
};

export const emptyDraft: Draft = {
  uri: '',
  apiKey: '',
  database: '',
  headers: {},
  token: '',
  endpoint: '',
  ca: '',
  name: '',
};

type StepName = 'address' | 'key' | 'database' | 'headers' | 'token' | 'endpoint' | 'ca' | 'name';

const shortOrder: readonly StepName[] = ['address', 'key', 'database', 'headers', 'name'];
/** All steps, including steps that few servers need. Used if the user chooses more options or has set one before. */
const longOrder: readonly StepName[] = ['address', 'key', 'database', 'headers', 'token', 'endpoint', 'ca', 'name'];

const hasMore = ({ token, endpoint, ca }: Draft): boolean => [token, endpoint, ca].some((one) => one !== '');

type WizardDeps = {
  title: string;
  ask: Ask;
  existing: readonly { name: string }[];
};

/**
 * Prompts for the parts of a connection, one step each; "Back" keeps the entered values.
 * @param from the first step to show, if the earlier steps are already filled in
 * @returns `undefined` if the user cancels
 */
export async function askServer(
  draft: Draft,
  { title, ask, existing }: WizardDeps,
  from: StepName = 'address',
): Promise<Draft | undefined> {
  let current = draft;
  let order = hasMore(draft) ? longOrder : shortOrder;
  for (let at = order.indexOf(from); at < order.length;) {
    const name = order[at] ?? 'name';
    const question = questions[name](current, existing);
    const more =
      name === 'headers' && order === shortOrder && 'More options: bearer token, private endpoint, certificates';
    const step = { number: at + 1, of: order.length };
    const answer = await ask({ title, step, ...question, ...(more && { more }) });
    if (answer === undefined) return undefined;
    if (answer === 'more') {
      order = longOrder;
      at++;
      continue;
    }
    if (answer === 'back') {
      at = Math.max(0, at - 1);
      continue;
    }
    const typed = answer.value.trim();
    current = fill[name](current, typed);
    // Headers are entered one at a time; an empty value ends the step.
    if (name !== 'headers' || typed === '') at++;
  }
  return current;
}

export const stepFor = (error: unknown): StepName =>
  isCatalogError(error, 'Unauthenticated') || isCatalogError(error, 'PermissionDenied') ? 'key' : 'address';

/** Whether the server may be reachable later, so that the connection is worth saving. */
export const isUnreachable = (error: unknown): boolean =>
  isCatalogError(error, 'ServiceUnavailable') || isCatalogError(error, 'Throttling');

const questions: Record<StepName, (draft: Draft, existing: WizardDeps['existing']) => Omit<Question, 'title'>> = {
  address: ({ uri }) => ({
    prompt: 'The address of the catalog server',
    placeHolder: 'https://catalog.example.com',
    value: uri,
    check: addressProblem,
    warn: addressWarning,
  }),
  key: ({ apiKey }) => ({
    prompt: 'API key, kept in the secret storage of VS Code. Leave it empty if the server needs none.',
    value: apiKey,
    isSecret: true,
    check: keyProblem,
  }),
  database: ({ database }) => ({
    prompt: 'Database, if the server has several. Leave it empty if the address contains it.',
    value: database,
    check: databaseProblem,
  }),
  headers: ({ headers }) => {
    const names = Object.keys(headers);
    const sent = names.length > 0 ? ` Added: ${names.join(', ')}. To remove ${names[0]}, type "${names[0]}:".` : '';
    return {
      prompt: `Header to send with every request, as Name: value. Leave it empty to continue.${sent}`,
      placeHolder: 'X-Team: sales',
      check: headerProblem,
    };
  },
  token: ({ token }) => ({
    prompt: 'Bearer token, kept in the secret storage of VS Code. Leave it empty if the server needs none.',
    value: token,
    isSecret: true,
    check: tokenProblem,
  }),
  endpoint: ({ endpoint, uri }) => ({
    prompt: `Private endpoint or tunnel to connect to instead. The key and the certificate of ${uri} still apply. Leave it empty for none.`,
    placeHolder: 'host:port',
    value: endpoint,
    check: (typed) => endpointProblem(typed, uri),
  }),
  ca: ({ ca }) => ({
    prompt: 'Path of a PEM file with the CA certificates for the server. Leave it empty for none.',
    placeHolder: '/etc/ssl/company.pem',
    value: ca,
    check: certificateFileProblem,
  }),
  name: ({ name, uri, database }, existing) => ({
    prompt: `Name of the connection to ${uri}`,
    value: name || uniqueName(restBaseName(uri, database), existing),
    check: (value) => connectionNameProblem(value.trim(), existing),
  }),
};

const fill: Record<StepName, (draft: Draft, typed: string) => Draft> = {
  address: (draft, typed) => ({ ...draft, uri: cleanAddress(typed) }),
  key: (draft, apiKey) => ({ ...draft, apiKey }),
  database: (draft, database) => ({ ...draft, database }),
  headers: (draft, typed) => ({ ...draft, headers: withHeader(draft.headers, typed) }),
  token: (draft, token) => ({ ...draft, token }),
  endpoint: (draft, endpoint) => ({ ...draft, endpoint }),
  ca: (draft, ca) => ({ ...draft, ca }),
  name: (draft, name) => ({ ...draft, name }),
};

/** Adds or removes a header. Header names are case-insensitive, and the last value entered for a name wins. */
function withHeader(headers: Draft['headers'], typed: string): Draft['headers'] {
  const header = headerOf(typed);
  if (!header) return headers;
  const others = Object.entries(headers).filter(([name]) => name.toLowerCase() !== header.name.toLowerCase());
  return Object.fromEntries(header.value === '' ? others : [...others, [header.name, header.value]]);
}

export const secretsOfDraft = ({ apiKey, token, headers }: Draft): ServerSecrets => ({
  ...(apiKey !== '' && { apiKey }),
  ...(token !== '' && { token }),
  ...(Object.keys(headers).length > 0 && { headers: { ...headers } }),
});
