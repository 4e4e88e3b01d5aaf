import { isCatalogError } from '#shared/errors.ts';
import type { Ask, Question } from '../host/askStep.ts';
import type { ServerSecrets } from '../host/secrets.ts';
import { connectionNameProblem, freeName } from './connectionRules.ts';
import {
  addressProblem,
  addressWarning,
  cleanAddress,
  headerOf,
  headerProblem,
  restBaseName,
  keyProblem,
  databaseProblem,
} from './restRules.ts';

/** A connection to a server while it is being typed. Empty texts are what is not there. */
export type Draft = {
  uri: string;
  apiKey: string;
  database: string;
  headers: Readonly<Record<string, string>>;
  name: string;
};

export const emptyDraft: Draft = { uri: '', apiKey: '', database: '', headers: {}, name: '' };

type StepName = 'address' | 'key' | 'database' | 'headers' | 'name';

const order: readonly StepName[] = ['address', 'key', 'database', 'headers', 'name'];

export type WizardParts = {
  title: string;
  ask: Ask;
  /** Names that are taken. */
  existing: readonly { name: string }[];
};

/**
 * Asks for the parts of a connection, a step each; every step can be gone back from with what was typed so far.
 * @param from the step to begin with, those before it being filled
 * @returns `undefined` when the person leaves
 */
export async function askServer(
  draft: Draft,
  { title, ask, existing }: WizardParts,
  from: StepName = 'address',
): Promise<Draft | undefined> {
  let current = draft;
  for (let at = order.indexOf(from); at < order.length;) {
    const name = order[at] ?? 'name';
    const question = questions[name](current, existing);
    const answer = await ask({ title, step: { number: at + 1, of: order.length }, ...question });
    if (answer === undefined) return undefined;
    if (answer === 'back') {
      at = Math.max(0, at - 1);
      continue;
    }
    const typed = answer.value.trim();
    current = fill[name](current, typed);
    // Headers are typed one by one; an empty line ends them.
    if (name !== 'headers' || typed === '') at++;
  }
  return current;
}

/** The step where what failed can be corrected. */
export const stepFor = (error: unknown): StepName =>
  isCatalogError(error, 'Unauthenticated') || isCatalogError(error, 'PermissionDenied') ? 'key' : 'address';

/** Whether a server that answers with this may be there another time, so that a connection to it is worth keeping. */
export const isUnreachable = (error: unknown): boolean =>
  isCatalogError(error, 'ServiceUnavailable') || isCatalogError(error, 'Throttling');

const questions: Record<StepName, (draft: Draft, existing: WizardParts['existing']) => Omit<Question, 'title'>> = {
  address: ({ uri }) => ({
    prompt: 'The address of the catalog server',
    placeHolder: 'https://catalog.example.com',
    value: uri,
    check: addressProblem,
    warn: addressWarning,
  }),
  key: ({ apiKey }) => ({
    prompt: 'The API key, kept in the secret storage of the editor. Leave it empty where the server needs none.',
    value: apiKey,
    isSecret: true,
    check: keyProblem,
  }),
  database: ({ database }) => ({
    prompt:
      'The database, where the server has several. Leave it empty where it has one, or where the address names it.',
    value: database,
    check: databaseProblem,
  }),
  headers: ({ headers }) => {
    const names = Object.keys(headers);
    const sent = names.length > 0 ? ` Sent so far: ${names.join(', ')}; "${names[0]}:" takes that away.` : '';
    return {
      prompt: `Another header that is sent with every request, as Name: value. Leave it empty to go on.${sent}`,
      placeHolder: 'Authorization: Bearer …',
      check: headerProblem,
    };
  },
  name: ({ name, uri, database }, existing) => ({
    prompt: `A name for ${uri}`,
    value: name || freeName(restBaseName(uri, database), existing),
    check: (value) => connectionNameProblem(value.trim(), existing),
  }),
};

const fill: Record<StepName, (draft: Draft, typed: string) => Draft> = {
  address: (draft, typed) => ({ ...draft, uri: cleanAddress(typed) }),
  key: (draft, apiKey) => ({ ...draft, apiKey }),
  database: (draft, database) => ({ ...draft, database }),
  headers: (draft, typed) => ({ ...draft, headers: withHeader(draft.headers, typed) }),
  name: (draft, name) => ({ ...draft, name }),
};

/** Names of headers are the same in capitals and in small letters; the last one typed counts. */
function withHeader(headers: Draft['headers'], typed: string): Draft['headers'] {
  const header = headerOf(typed);
  if (!header) return headers;
  const others = Object.entries(headers).filter(([name]) => name.toLowerCase() !== header.name.toLowerCase());
  return Object.fromEntries(header.value === '' ? others : [...others, [header.name, header.value]]);
}

/** What a draft has for the secret storage. */
export const secretsOfDraft = ({ apiKey, headers }: Draft): ServerSecrets => ({
  ...(apiKey !== '' && { apiKey }),
  ...(Object.keys(headers).length > 0 && { headers: { ...headers } }),
});
