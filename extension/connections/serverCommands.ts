import { CatalogError, isAbort } from '#shared/errors.ts';
import { mapAt } from '#shared/fields.ts';
import { asRecord } from '#shared/records.ts';
import type { RestConnection } from '../explorer/node.ts';
import { chooseAfterFailure, withProgress } from '../host/ask.ts';
import { askStep } from '../host/askStep.ts';
import type { Catalogs } from './catalogs.ts';
import { uniqueName } from './connectionRules.ts';
import type { Connections, NewServer } from './connections.ts';
import { failureMessage, serverErrorAction } from './failureMessage.ts';
import { cleanAddress, keyProblem, restBaseName } from './restRules.ts';
import { askServer, type Draft, emptyDraft, isUnreachable, secretsOfDraft, stepFor } from './restWizard.ts';
import { isString } from '#shared/shape.ts';

type ServerDeps = { connections: Connections; catalogs: Catalogs };

/**
 * Adds the given server, or prompts for a server. A draft fills in the prompts.
 * @throws CatalogError if the connection test of the given server fails
 */
export async function addServer(parts: ServerDeps, given: unknown): Promise<RestConnection | undefined> {
  const { connections } = parts;
  const server = givenServer(given, connections);
  const isDraft = asRecord(given)['isDraft'] === true;
  if (server && !isDraft) {
    await withProgress(`Connecting to ${server.uri}`, (signal) =>
      parts.catalogs.checkServer(server, server.secrets, signal),
    );
    return connections.addServer(server);
  }
  const { uri = '', database = '', name = '' } = server ?? {};
  const draft = { ...emptyDraft, uri, database, name: name && uniqueName(name, connections.list()) };
  const typed = await askTested(parts, 'Add REST Connection', draft, connections.list());
  return typed && connections.addServer(typed);
}

export async function editServer(parts: ServerDeps, connection: RestConnection): Promise<void> {
  const { connections } = parts;
  const { name, uri, database = '', endpoint = '', ca = '' } = connection;
  const { apiKey = '', token = '', headers = {} } = await connections.secretsOf(connection);
  const others = connections.list().filter((one) => one.name !== name);
  const draft = { name, uri, database, apiKey, headers, token, endpoint, ca };
  const typed = await askTested(parts, `Edit Connection ${name}`, draft, others);
  if (typed) await connections.replaceServer(name, typed);
}

/** Prompts for another API key. A rejected key is not stored and stays in the prompt to be corrected. */
export async function updateKey({ connections, catalogs }: ServerDeps, connection: RestConnection): Promise<void> {
  const secrets = await connections.secretsOf(connection);
  await askStep({
    title: `Update API Key of ${connection.name}`,
    prompt: `API key for ${connection.uri}, kept in the secret storage of VS Code. Leave it empty for none.`,
    isSecret: true,
    check: keyProblem,
    accept: async (typed, signal) => {
      const apiKey = typed.trim();
      try {
        await catalogs.checkServer(connection, { ...secrets, apiKey }, signal);
      } catch (error) {
        // Store the key even if the server is unreachable, because the server may be reachable later. The tree shows
        // that the server is unreachable.
        if (isAbort(error)) throw error;
        if (!isUnreachable(error)) throw new Error(failureText(error), { cause: error });
      }
      await connections.setApiKey(connection, apiKey);
    },
  });
}

/** Prompts for a server until the connection test succeeds, the user saves the server anyway, or the user cancels. */
async function askTested(
  { catalogs }: ServerDeps,
  title: string,
  first: Draft,
  existing: readonly { name: string }[],
): Promise<NewServer | undefined> {
  let from: Parameters<typeof askServer>[2];
  for (let draft = first; ;) {
    const typed = await askServer(draft, { title, ask: askStep, existing }, from);
    if (!typed) return undefined;
    const { name, uri, database, endpoint, ca } = typed;
    const way = { uri, ...(database && { database }), ...(endpoint && { endpoint }), ...(ca && { ca }) };
    const server: NewServer = { name, ...way, secrets: secretsOfDraft(typed) };
    try {
      await withProgress(`Connecting to ${uri}`, (signal) => catalogs.checkServer(server, server.secrets, signal));
      return server;
    } catch (error) {
      const choice = await chooseAfterFailure(
        isAbort(error) ? 'The connection test was cancelled.' : connectionFailure(error),
        isAbort(error) || isUnreachable(error),
      );
      if (choice === 'keep') return server;
      if (choice !== 'correct') return undefined;
      from = stepFor(error);
      draft = typed;
    }
  }
}

const connectionFailure = (error: unknown): string => `The connection test failed. ${failureText(error)}`;

function failureText(error: unknown): string {
  const { what, hint } = failureMessage(error, serverErrorAction(error));
  return [what, hint].filter(Boolean).join(' ');
}

/** @throws CatalogError InvalidInput (13) if `uri` or `database` is not a string */
function givenServer(given: unknown, connections: Connections): NewServer | undefined {
  const { uri, name, database = '', endpoint, ca, apiKey, token, headers = {} } = asRecord(given);
  if (uri === undefined) return undefined;
  if (!isString(uri) || !isString(database)) {
    throw new CatalogError(
      'InvalidInput',
      'Expected strings for "uri" and "database".',
      'Set "uri" to the address of the server, for instance "https://…".',
    );
  }
  const address = cleanAddress(uri);
  return {
    uri: address,
    name: isString(name) ? name : uniqueName(restBaseName(address, database), connections.list()),
    ...(database && { database }),
    ...(isString(endpoint) && { endpoint }),
    ...(isString(ca) && { ca }),
    secrets: {
      ...(isString(apiKey) && { apiKey }),
      ...(isString(token) && { token }),
      headers: mapAt(headers),
    },
  };
}
