import type { EksLogin } from './eksCredential.ts';

type PluginEntry = {
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
};

/** The programs that sign tokens for EKS, with their option names. */
const plugins: Readonly<Record<string, { readonly verbs: readonly string[]; readonly flags: Flags }>> = {
  aws: {
    verbs: ['eks', 'get-token'],
    flags: { clusterName: ['--cluster-name', '--cluster-id'], role: ['--role-arn', '--role'] },
  },
  'aws-iam-authenticator': {
    verbs: ['token'],
    flags: { clusterName: ['-i', '--cluster-id'], role: ['-r', '--role'] },
  },
};

type Flags = { readonly clusterName: readonly string[]; readonly role: readonly string[] };

/**
 * Reads the login from a plugin's arguments, so that the token can be signed without the plugin.
 * Returns `undefined` for other programs and for unknown arguments, whose effect could not be reproduced.
 */
export function readEksPlugin({ command, args, env }: PluginEntry): EksLogin | undefined {
  const plugin = plugins[programOf(command)];
  if (!plugin) return undefined;
  const { verbs, flags } = plugin;
  const options = new Map<string, string>();
  const words: string[] = [];
  for (let index = 0; index < args.length; index++) {
    const arg = args[index] ?? '';
    if (!arg.startsWith('-')) {
      words.push(arg);
      continue;
    }
    const [flag, inline] = splitOnce(arg);
    if (ignored.has(flag)) continue;
    options.set(flag, inline ?? args[++index] ?? '');
  }
  if (words.join(' ') !== verbs.join(' ')) return undefined;
  const known = new Set([...flags.clusterName, ...flags.role, '--region', '--profile', ...harmless]);
  if ([...options.keys()].some((flag) => !known.has(flag))) return undefined;

  const valueOf = (names: readonly string[]): string | undefined =>
    names.map((name) => options.get(name)).find((value) => value !== undefined && value !== '');
  const clusterName = valueOf(flags.clusterName);
  const region = options.get('--region') ?? env['AWS_REGION'] ?? env['AWS_DEFAULT_REGION'];
  if (clusterName === undefined || region === undefined) return undefined;
  const profile = options.get('--profile') ?? env['AWS_PROFILE'];
  return { clusterName, region, roleArn: valueOf(flags.role), profile };
}

/** Flags without a value that do not affect the token. */
const ignored: ReadonlySet<string> = new Set(['--no-cli-pager', '--token-only', '--cache']);
/** Flags with a value that do not affect the token. */
const harmless = ['--output', '--session-name', '-s'];

/** `C:\tools\aws.exe` → `aws` */
const programOf = (command: string): string =>
  command
    .replace(/^.*[\\/]/, '')
    .replace(/\.(?:exe|cmd)$/i, '')
    .toLowerCase();

function splitOnce(arg: string): readonly [string, string | undefined] {
  const at = arg.indexOf('=');
  return at < 0 ? [arg, undefined] : [arg.slice(0, at), arg.slice(at + 1)];
}
