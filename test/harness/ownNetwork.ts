/**
 * A network of its own for a program and all that it starts: nothing but the loopback address, which nobody outside of it
 * reaches. Ray listens on every address that there is, whatever it is told, and runs what it is sent; servers of tests have
 * no business on a person's network.
 *
 * By hand: `node test/harness/ownNetwork.ts node node_modules/mocha/bin/mocha.js --ui tdd test/cluster/ray/kuberay.test.ts`
 */
import { spawnSync } from 'node:child_process';
import { networkInterfaces } from 'node:os';
import { isRoot, type Need, succeeds } from './needs/installing.ts';

/** The line that runs a command in a network of its own, in the place of the process that is started. */
export const inOwnNetwork = (command: readonly string[]): [program: string, ...args: string[]] => [
  'unshare',
  '--net',
  // What tests mount is seen by nobody else, and goes with them.
  '--mount',
  ...(isRoot() ? [] : ['--map-root-user']),
  '--',
  'sh',
  '-c',
  'ip link set lo up && exec "$@"',
  'sh',
  ...command,
];

/** Whether this process is in one: there is no address but those of the loopback. */
export const isInOwnNetwork = (): boolean =>
  Object.values(networkInterfaces()).every((addresses) => addresses?.every(({ internal }) => internal) ?? true);

/** The right to make one. */
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
