import type { EksLogin } from './eksCredential.ts';

type PluginEntry = {
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
};

/** The programs that sign tokens for EKS, with their option names. */
const plugins: Readonly<Record<string, { readonly verbs: readonly string[]; readonly flags: Flags } | undefined>> = {
  aws: {
    verbs: ['eks', 'get-token'],
    flags: {
      clusterName: ['--cluster-name', '--cluster-id'],
      role: ['--role-arn', '--role'],
      sessionName: [],
      externalId: [],
    },
  },
  'aws-iam-authenticator': {
    verbs: ['token'],
    flags: {
      clusterName: ['-i', '--cluster-id'],
      role: ['-r', '--role'],
      sessionName: ['-s', '--session-name'],
      externalId: ['-e', '--external-id'],
    },
  },
};

type Flags = Readonly<Record<'clusterName' | 'role' | 'sessionName' | 'externalId', readonly string[]>>;

/**
 * Reads the login from a plugin's arguments, so that the token can be signed without the plugin.
 * Returns `undefined` for other programs, and if the cluster or the region is not known. Returns `undefined` also for
 * unknown arguments and variables, because they could change the signing principal.
 * @param inherited the environment of this process; the plugin's own variables override it
 */
export function readEksPlugin(
  { command, args, env: own }: PluginEntry,
  inherited: Readonly<Record<string, string | undefined>> = {},
): EksLogin | undefined {
  const plugin = plugins[programOf(command)];
  if (!plugin) return undefined;
  if (Object.entries(own).some(([name, value]) => value !== inherited[name] && !isReproduced(name))) return undefined;
  const env = { ...inherited, ...own };
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
  const known = new Set([...Object.values(flags).flat(), '--region', '--profile', '--output']);
  if ([...options.keys()].some((flag) => !known.has(flag))) return undefined;

  const valueOf = (names: readonly string[]): string | undefined =>
    names.map((name) => options.get(name)).find((value) => value !== undefined && value !== '');
  const clusterName = valueOf(flags.clusterName);
  const region = options.get('--region') || env['AWS_REGION'] || env['AWS_DEFAULT_REGION'] || undefined;
  if (clusterName === undefined || region === undefined) return undefined;
  return {
    clusterName,
    region,
    roleArn: valueOf(flags.role),
    profile: valueOf(['--profile']),
    sessionName: valueOf(flags.sessionName),
    externalId: valueOf(flags.externalId),
    environment: env,
  };
}

/** Variables of a plugin that are reproduced, or that do not affect the signing principal. */
const reproduced: ReadonlySet<string> = new Set([
  'AWS_ACCESS_KEY_ID',
  'AWS_SECRET_ACCESS_KEY',
  'AWS_SESSION_TOKEN',
  'AWS_SHARED_CREDENTIALS_FILE',
  'AWS_CONFIG_FILE',
  'AWS_ROLE_ARN',
  'AWS_ROLE_SESSION_NAME',
  'AWS_WEB_IDENTITY_TOKEN_FILE',
  'AWS_PROFILE',
  'AWS_REGION',
  'AWS_DEFAULT_REGION',
  'AWS_STS_REGIONAL_ENDPOINTS',
  'AWS_SDK_LOAD_CONFIG',
  'AWS_DEFAULT_OUTPUT',
  'AWS_PAGER',
]);

/**
 * Returns whether a variable is reproduced or has no effect. HOME and USERPROFILE are neither, because they determine
 * which AWS files are read.
 */
const isReproduced = (name: string): boolean =>
  reproduced.has(name) || !/^(?:AWS_.*|HOME|USERPROFILE|(?:HTTPS?|ALL|NO)_PROXY)$/i.test(name);

/** Flags without a value that do not affect the token. */
const ignored: ReadonlySet<string> = new Set(['--no-cli-pager', '--token-only', '--cache']);

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
