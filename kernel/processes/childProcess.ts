import { execFile, spawn, type ChildProcess, type SerializationType, type StdioOptions } from 'node:child_process';
import { existsSync } from 'node:fs';
import { promisify } from 'node:util';
import { CatalogError } from '#shared/errors.ts';
import { isFitNode, minimumNode } from './nodeVersion.ts';

/** A Node.js to start child processes with, its environment, and its version if it was determined. */
export type NodeRuntime = { path: string; env: Record<string, string>; version?: string };

/**
 * The Node.js of this process. In a desktop editor it is Electron, with the variable that makes Electron run as
 * Node.js.
 */
export const thisNode = (): NodeRuntime => ({
  path: process.execPath,
  env: process.versions['electron'] === undefined ? {} : { ELECTRON_RUN_AS_NODE: '1' },
});

const run = promisify(execFile);

async function versionOf(node: NodeRuntime, signal?: AbortSignal): Promise<string> {
  const { stdout } = await run(node.path, ['-p', 'process.versions.node'], {
    env: { ...process.env, ...node.env },
    timeout: 10_000,
    windowsHide: true,
    ...(signal && { signal }),
  });
  return stdout.trim();
}

/**
 * Finds the Node.js for kernel and engine: the one in the setting, else a supported `node` on PATH, else this process's
 * executable, which in a desktop editor is Electron running as Node.js.
 * @throws CatalogError ServiceUnavailable (17) if there is none, naming the setting
 */
export async function findNode(options: { nodePath?: string; signal?: AbortSignal } = {}): Promise<NodeRuntime> {
  const { nodePath, signal } = options;
  const wanted = minimumNode.join('.');
  if (nodePath) {
    const node = { path: nodePath, env: {} };
    const version = await versionOf(node, signal).catch((cause: unknown) => {
      throw new CatalogError(
        'ServiceUnavailable',
        `Can't run "${nodePath}".`,
        `Set lanceCatalog.nodePath to Node.js ${wanted} or newer.`,
        { cause },
      );
    });
    if (isFitNode(version)) return { ...node, version };
    throw new CatalogError(
      'ServiceUnavailable',
      `"${nodePath}" is Node.js ${version}, which is not supported.`,
      `Set lanceCatalog.nodePath to Node.js ${wanted} or newer.`,
    );
  }
  const onPath = { path: 'node', env: {} };
  const found = await versionOf(onPath, signal).catch(() => '0');
  if (isFitNode(found)) return { ...onPath, version: found };
  const self = { path: process.execPath, env: { ELECTRON_RUN_AS_NODE: '1' } };
  if (isFitNode(process.versions.node)) return { ...self, version: process.versions.node };
  throw new CatalogError(
    'ServiceUnavailable',
    `Can't find Node.js ${wanted} or newer (PATH has ${found === '0' ? 'none' : found}, the editor ${process.versions.node}).`,
    'Install it and set lanceCatalog.nodePath to its path.',
  );
}

const shell = '/bin/sh';

/**
 * Whether `startNode` can limit the memory of a process. It can on Linux, where `ulimit -d` covers all memory that the
 * process may write to.
 */
export const canLimitMemory = (): boolean => process.platform === 'linux' && existsSync(shell);

/**
 * Sets the limit and replaces the shell by the program, which keeps the process id. If the user has set a lower limit,
 * the lower limit stays. A process at its limit aborts. It writes no core dump, because the dump would have the size of
 * the limit.
 */
const limitScript = 'ulimit -d "$1" 2>/dev/null; ulimit -c 0; shift; exec "$@"';

/** Starts a bundle of this product. Flags are passed in argv, because packaged editors refuse NODE_OPTIONS. */
export function startNode(options: {
  node: NodeRuntime;
  flags?: readonly string[];
  entry: string;
  args?: readonly string[];
  cwd?: string;
  env?: Record<string, string>;
  /** Whether the child outlives this process and does not receive the signals of its terminal. */
  detached?: boolean;
  stdio: StdioOptions;
  /** Format of the messages between the processes, if `stdio` has a channel for messages. Default: JSON. */
  serialization?: SerializationType;
  /**
   * Maximum bytes of memory that the process may write to; see `canLimitMemory`. Node.js reserves about 600 MB of this
   * memory without using it.
   */
  memoryLimit?: number | undefined;
}): ChildProcess {
  const { node, flags = [], entry, args = [], cwd, env, detached = false, stdio, serialization, memoryLimit } = options;
  const inherited = { ...process.env };
  delete inherited['NODE_OPTIONS'];
  const ofNode = [...flags, entry, ...args];
  const [program, line] =
    memoryLimit === undefined
      ? [node.path, ofNode]
      : [shell, ['-c', limitScript, 'sh', String(Math.ceil(memoryLimit / 1024)), node.path, ...ofNode]];
  return spawn(program, line, {
    ...(cwd !== undefined && { cwd }),
    env: { ...inherited, ...node.env, ...env },
    detached,
    stdio,
    ...(serialization && { serialization }),
    windowsHide: true,
  });
}
