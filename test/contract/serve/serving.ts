import { randomBytes } from 'node:crypto';
import { serve } from '#engine/serve/serve.ts';
import { watchReplies } from '../upstream/replyPaths.ts';

/**
 * Our server on a directory, over TCP and with a key, as teams run it. `close` fails if a response contained the path
 * of the directory.
 */
export type Serving = { readonly uri: string; readonly key: string; close(): Promise<unknown> };

/** @param hidden further texts that no response may contain */
export async function startServing(root: string, hidden: readonly string[] = []): Promise<Serving> {
  const key = randomBytes(16).toString('hex');
  const running = await serve({
    databases: [{ name: 'default', root }],
    host: '127.0.0.1',
    port: 0,
    keys: { kind: 'key', key },
    behindProxy: false,
    publicHosts: [],
    limits: { grace: 1000 },
    write: () => undefined,
  });
  const replies = watchReplies(running.port, [root, ...hidden]);
  return {
    uri: running.address,
    key,
    close: async () => {
      await running.close();
      replies.stop();
    },
  };
}
