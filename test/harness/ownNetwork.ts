/**
 * Runs a program and its child processes in a separate network with only the loopback address, which no process outside
 * can reach. Ray always listens on every address and runs any job it gets, and servers of tests must not be reachable
 * from a user's network.
 *
 * By hand: `node test/harness/ownNetwork.ts node node_modules/mocha/bin/mocha.js --ui tdd
 * test/cluster/ray/kuberay.test.ts`
 */
import { spawnSync } from 'node:child_process';
import { networkInterfaces } from 'node:os';
import { isRoot, type Need, succeeds } from './needs/installing.ts';

/** Returns the command line that runs a command in a separate network, replacing the started process. */
export const inOwnNetwork = (command: readonly string[]): [program: string, ...args: string[]] => [
  'unshare',
  '--net',
  // Mounts of tests are visible only to the program and end with it.
  '--mount',
  ...(isRoot() ? [] : ['--map-root-user']),
  '--',
  'sh',
  '-c',
  'ip link set lo up && exec "$@"',
  'sh',
  ...command,
];

/** Whether this process is in such a network: it has only loopback addresses. */
export const isInOwnNetwork = (): boolean =>
  Object.values(networkInterfaces()).every((addresses) => addresses?.every(({ internal }) => internal) ?? true);

/** The right to create such a network. */
export const ownNetwork: Need = {
  title: 'The right to make a network of its own for tests (unshare --net, and ip of the apt package iproute2)',
  download: 0,
  disk: 0,
  isThere: () => {
    const [program, ...args] = inOwnNetwork(['true']);
    return succeeds(program, args);
  },
  before: () =>
    'the right to make a network namespace: run as root, in a container with CAP_SYS_ADMIN, or allow user namespaces (sysctl kernel.unprivileged_userns_clone=1)',
  install: () =>
    Promise.reject(
      new Error(
        'Ray listens on all addresses, so it runs in a network of its own alone, and none can be made here: run the tests as root, or allow user namespaces.',
      ),
    ),
};

if (import.meta.main) {
  const [program, ...args] = inOwnNetwork(process.argv.slice(2));
  process.exit(spawnSync(program, args, { stdio: 'inherit' }).status ?? 1);
}
