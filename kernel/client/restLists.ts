import type { CallOptions } from './callOptions.ts';
import { mustExist } from './restExists.ts';
import { Reply } from './restReply.ts';
import type { Wire } from './wireRequest.ts';

/** What is listed of a namespace, and which field of the answer has it. */
const lists = { ListNamespaces: 'namespaces', ListTables: 'tables' } as const;

export type ListRequest = CallOptions & {
  limit: number;
  pageToken: string | undefined;
  includeDeclared?: boolean | undefined;
};

/**
 * One page of names. A page that is empty and has another behind it is not handed on: there are servers that count in it
 * what they do not show.
 * @throws CatalogError NamespaceNotFound (1) also where the server lists a missing namespace as an empty one; Internal
 * (18) where a page leads to itself
 */
export async function listPage(
  wire: Wire,
  operation: keyof typeof lists,
  path: readonly string[],
  request: ListRequest,
): Promise<{ names: string[]; pageToken?: string }> {
  const { limit, includeDeclared, signal } = request;
  const seen = new Set<string>();
  let pageToken = request.pageToken;
  for (;;) {
    if (pageToken !== undefined) seen.add(pageToken);
    const body = await wire.json({
      operation,
      id: path,
      query: {
        limit,
        page_token: pageToken,
        ...(operation === 'ListTables' && includeDeclared === false && { include_declared: false }),
      },
      signal,
    });
    const reply = new Reply(wire, body);
    const names = reply.texts(lists[operation]);
    const next = reply.maybeText('page_token') || undefined;
    if (next !== undefined && seen.has(next)) throw wire.unexpected('a list that goes in circles');
    // Lists of both kinds have the namespaces first: where tables have begun, there are no more of them.
    const isOver = next === undefined || (operation === 'ListNamespaces' && hasTables(reply));
    if (names.length > 0 && !isOver) return { names, pageToken: next };
    if (isOver) {
      if (names.length === 0 && seen.size === 0) await mustExist(wire, path, { signal });
      return { names };
    }
    pageToken = next;
  }
}

function hasTables(reply: Reply): boolean {
  const tables = reply.raw('tables');
  return Array.isArray(tables) && tables.length > 0;
}
