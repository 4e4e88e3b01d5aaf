import { spawnSync } from 'node:child_process';

/** A requirement of a layer outside of npm's packages. */
export type Need = {
  readonly title: string;
  /** Size of the download in MB, and then the size on disk in MB. */
  readonly download: number;
  readonly disk: number;
  readonly isThere: () => boolean;
  /** Whether only root can install the need. */
  readonly asRoot?: boolean;
  /** Returns what the user must do before `install` can run; `undefined` if nothing. */
  readonly before?: () => string | undefined;
  /** Installs the need. @throws Error that says what the user must do */
  readonly install: (say: (line: string) => void) => Promise<void>;
};

export function isRoot(): boolean {
  return process.getuid?.() === 0;
}

export function apt(...packages: readonly string[]): void {
  const names = packages.join(' ');
  if (!isRoot() || !succeeds('apt-get', ['--version']))
    throw new Error(`Install ${names} first, such as by: sudo apt-get install ${names}`);
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
  run('apt-get', ['update', '-qq'], { env });
  run('apt-get', ['install', '-y', '-qq', '--no-install-recommends', ...packages], { env });
}

export function succeeds(command: string, args: readonly string[]): boolean {
  return spawnSync(command, args, { stdio: 'ignore' }).status === 0;
}

/** Runs a program. @returns its stdout @throws Error with the last lines of its stderr */
export function run(
  command: string,
  args: readonly string[],
  options: { readonly env?: NodeJS.ProcessEnv; readonly cwd?: string } = {},
): string {
  const { status, signal, stdout, stderr, error } = spawnSync(command, args, {
    ...options,
    stdio: ['ignore', 'pipe', 'pipe'],
    encoding: 'utf8',
    maxBuffer: 64 << 20,
  });
  if (status === 0) return stdout;
  const end = stderr?.trim().split('\n').slice(-8).join('\n') ?? '';
  throw new Error(`${command} ${args[0] ?? ''} ended with ${status ?? signal ?? 'no exit code'}.\n${end}`, {
    cause: error,
  });
}
