import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { openDir } from '#engine/dir.ts';
import { createContractHandler } from '#engine/server.ts';

/** The contract over one directory on TCP without keys, for tools that ask it as anyone would. */
export type PlainServer = {
  readonly uri: string;
  /** What went wrong inside, with stack traces. */
  readonly failures: string[];
  /** How often which operation was answered how: `QueryTable 200`. */
  readonly answered: ReadonlyMap<string, number>;
  close(): Promise<void>;
};

export async function startPlainServer(root: string): Promise<PlainServer> {
  const catalog = await openDir({ root });
  const failures: string[] = [];
  const answered = new Map<string, number>();
  const contract = createContractHandler({
    authorize: () => undefined,
    catalogOf: () => Promise.resolve(catalog),
    log: (line) => failures.push(line),
    onAnswered: (_, { operation, status }) => {
      const key = `${operation ?? 'unknown'} ${status}`;
      answered.set(key, (answered.get(key) ?? 0) + 1);
    },
  });
  const server = createServer((request, response) => void contract.handle(request, response));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    uri: `http://127.0.0.1:${port}`,
    failures,
    answered,
    close: async () => {
      server.close();
      await contract.drain();
      server.closeAllConnections();
      await catalog.close();
    },
  };
}
