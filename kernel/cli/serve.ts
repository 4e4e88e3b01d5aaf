import { appendFile, chmod, readFile } from 'node:fs/promises';
import { ageSeconds } from '#catalog/table/optimize.ts';
import { registerStoreFiles } from '#engine/dir/files/storeFiles.ts';
import { databasesOf } from '#engine/serve/databases.ts';
import type { KeySource } from '#engine/serve/keyStore.ts';
import { makeKey, parseKeys } from '#engine/serve/keys.ts';
import { joinLines } from '#engine/serve/log.ts';
import { checkExposure, defaultServeLimits, type ServeLimits, type ServeOptions } from '#engine/serve/options.ts';
import { serve } from '#engine/serve/serve.ts';
import { checkVending, type Vending } from '#engine/serve/tableCredentials.ts';
import { limitYoungGeneration } from '#engine/serve/youngGeneration.ts';
import { defaultMaxJobs, type ServerJobs } from '#engine/server/serverJobs.ts';
import { fileProblem } from '#processes/fileProblem.ts';
import { CatalogError, isCatalogError } from '#shared/errors.ts';
import { nameProblem, namespacePathProblem } from '#shared/names.ts';
import { fromEnvironment, storageArguments, storageHelp, storageOptions } from './catalogArguments.ts';
import { type Command, parse, UsageError, wholeNumberArgument } from './command.ts';

export const newKeyUsage = `  lance-catalog serve new-key NAME [--read-only] [--database NAME …] [--namespace PATH] [--keys FILE]
      create an API key, print it once, and add its line to the key file (default: print the line to stderr).
      With --namespace shop/eu the key opens only this namespace of its databases, as the root`;

/**
 * `serve new-key`: creates a key and prints it for the user. The line for the key file contains only the hash of the
 * key.
 */
export async function newKey(args: readonly string[]): Promise<number> {
  const { values, positionals } = parse(
    args,
    {
      'read-only': { type: 'boolean' },
      database: { type: 'string', multiple: true },
      namespace: { type: 'string' },
      keys: { type: 'string' },
    },
    true,
  );
  const [name, ...more] = positionals;
  if (name === undefined || more.length > 0) throw new UsageError('"serve new-key" needs one NAME.');
  const access = values['read-only'] ? 'read-only' : 'read-write';
  const { database: databases = '*', namespace } = values;
  const invalid = databases === '*' ? undefined : databases.find((database) => nameProblem('namespace', database));
  if (invalid !== undefined)
    throw new UsageError(`Expected letters, digits, "_", "-" and "." for --database, got "${invalid}".`);
  const namespacePath = namespace?.split('/') ?? [];
  const problem = namespacePathProblem(namespacePath);
  if (problem) {
    const expected = `Expected names with "/" between them for --namespace, got "${namespace}".`;
    throw new UsageError(`${expected} ${problem.what} ${problem.hint}`);
  }
  const { key, line } = makeKey(name, access, databases, namespacePath);
  if (values.keys === undefined) process.stderr.write(`${line}\n`);
  else await append(values.keys, line);
  process.stdout.write(`${key}\n`);
  return 0;
}

/** Appends a line to a file of keys, and creates the file readable by its owner only. */
async function append(path: string, line: string): Promise<void> {
  try {
    const before = await readFile(path, 'utf8').catch((error: unknown) => {
      if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
      throw error;
    });
    const start = before === undefined || before === '' || before.endsWith('\n') ? '' : '\n';
    // The file is checked before it is written, because a server ignores changes of the file while a line is invalid.
    const name = line.split(' ', 1)[0];
    if (before !== undefined && before.trim() !== '' && parseKeys(before).some((key) => key.name === name)) {
      throw new CatalogError('InvalidInput', `Key file "${path}" already has a key "${name}".`, 'Choose another name.');
    }
    parseKeys(`${before ?? ''}${start}${line}`);
    await appendFile(path, `${start}${line}\n`, { mode: 0o600 });
    if (before === undefined) await chmod(path, 0o600);
  } catch (cause) {
    if (cause instanceof CatalogError) throw cause;
    throw new CatalogError(
      'InvalidInput',
      `Can't write key file "${path}": ${fileProblem(cause)}.`,
      'Choose another file with --keys FILE.',
      {
        cause,
      },
    );
  }
}

/** Lifetimes of credentials that AWS allows, in seconds. */
const vendDuration = { least: 900, most: 43_200, usual: 3600 } as const;

const summary = `  lance-catalog serve --root DIR (--keys FILE | --api-key-env NAME | --no-auth) [--port N] …
      serve the tables in a directory or an object store over REST
${newKeyUsage}`;

export const serveCommand: Command = {
  summary,
  help: `Serves catalogs to a team over the Lance Namespace REST API

${summary}

Tables
  --root DIR|s3://…             the directory or object store URL that holds the tables. Without --database, LanceDB's
                                remote client opens it under any name (db://NAME)
  --database NAME[=ROOT]        serve a database of this name (default ROOT: the folder NAME below --root); repeatable.
                                Clients select it with the header x-service-database or the first label of the host
                                (NAME.catalog.example.com with --public-host catalog.example.com; upper or lower case);
                                a name with a dot works only in the header. The header
                                x-service-database-prefix selects a folder below the database (team/north) or, if no
                                database is selected, the database and the folder (NAME/team/north)
Clients can use a namespace as the root, by the base path /at/ and its names joined by %24: http://HOST:PORT/at/shop%24eu
${storageHelp}

Access; every request except /healthz and /readyz needs a key, as x-api-key or Authorization: Bearer
  --api-key-env NAME            read a single key with all rights from an environment variable
  --keys FILE                   read keys from a file that only you can read (mode 600), with a line for each key:
                                NAME SHA256 read-only|read-write DATABASE,DATABASE|* [namespace=PATH]
                                A key with a namespace sees it as the root, and nothing outside of it
                                The file is read again when it changes; an invalid file is ignored
                                A key does not limit clients that open the files of a table with other credentials
  --no-auth                     no authentication; loopback only

Network
  --port N                      port to listen on; 0 for a free one (default: 2333)
  --host ADDRESS                address to listen on; other addresses need TLS or a proxy (default: 127.0.0.1)
  --tls-cert FILE --tls-key FILE  PEM files, read again when they change
  --behind-proxy                a proxy in front of the server handles TLS
  --public-host NAME            a host name that clients use for the server; repeatable. Requests for hosts other than
                                these names, localhost and the address are rejected
  --json                        print {"address","port","pid","databases"} to stdout once the server listens

Credentials for engines that open the files of tables in S3 themselves (see docs/serving.md)
  --vend-credentials ROLE_ARN   send clients temporary credentials that open the folder of one table, from a session of
                                this role; for read-only keys they only read. The server's own credentials for AWS come
                                from its environment (default: send none)
  --vend-duration AGE           lifetime of these credentials, from 15m to 12h (default: 1h). AWS allows at most the
                                maximum of the role, and one hour if the server's own credentials are a session of a role
  --vend-external-id ID         the external id that the trust policy of the role requires
  --vend-region REGION          the region of the buckets (default: the storage option aws_region, else AWS_REGION)

Backfills
  --jobs                        compute columns for clients, as jobs of this machine that outlive the server (default:
                                reject backfills). SQL expressions always run; TypeScript and Python functions run only
                                if they were accepted on this machine or with --allow-stored-code
  --allow-stored-code HASH      run the function with this hash; repeatable
  --max-jobs N                  maximum number of jobs that run on this machine at the same time (default: ${defaultMaxJobs})

Limits
  --max-body MB                 maximum size of a request with rows (default: ${defaultServeLimits.bodyBytes / 1024 ** 2})
  --max-requests N              maximum number of concurrent requests (default: ${defaultServeLimits.requests})
  --idle-timeout SECONDS        close a connection idle for this long (default: ${defaultServeLimits.idle / 1000})
  --query-processes N           number of processes for requests with SQL, text to search or a vector. Such a request
                                can't end the server: a process that fails, or needs more memory or time than these
                                limits, is stopped (default: ${defaultServeLimits.queryProcesses} on this machine)
  --query-memory MB             memory of each of these processes (default: ${defaultServeLimits.queryMemory / 1024 ** 2})
  --query-timeout SECONDS       stop such a request if its client waits this long for rows (default: ${defaultServeLimits.queryTime / 1000});
                                requests that change a table have ${defaultServeLimits.writeTime / 60_000} minutes, or this time if it is longer
  --grace SECONDS               wait this long for running requests when the server stops (default: ${defaultServeLimits.grace / 1000})

/healthz reports that the process runs, /readyz that it can read its roots, /metrics (with a key) has Prometheus
counters. The log is JSON lines on stderr. On SIGTERM or Ctrl-C the server finishes running requests; a second signal stops it at
once. On Linux with glibc, MALLOC_ARENA_MAX=2 in the environment reduces the memory kept after long scans by a quarter.`,
  run,
};

async function run(args: readonly string[]): Promise<number> {
  if (args[0] === 'new-key') return newKey(args.slice(1));
  const { options, json, jobs, vending } = optionsOf(args);
  limitYoungGeneration();
  registerStoreFiles(async (...store) => (await import('#jobs/entry.ts')).openStoreFiles(...store));
  const running = await serve({
    ...options,
    ...(jobs && { jobs: await jobsOf(jobs, options) }),
    ...(vending && { vending: await openVending(vending) }),
  });
  const databases = options.databases.map(({ name }) => name);
  if (json) {
    process.stdout.write(
      `${JSON.stringify({ address: running.address, port: running.port, pid: process.pid, databases })}\n`,
    );
  } else {
    const roots = options.databases.map(({ root }) => root).join(', ');
    console.error(`Serving ${roots} at ${running.address}. Press Ctrl-C to stop.`);
  }
  await asked();
  await running.close();
  // The process exits explicitly, because the engine's threads would delay its end.
  process.exit(0);
}

/**
 * Milliseconds within which signals count as one. A terminal sends Ctrl-C to all processes, and a parent process may
 * forward it as well.
 */
const oneSignal = 500;

/** Resolves on the first signal to end; the second ends the process. */
function asked(): Promise<void> {
  return new Promise((resolve) => {
    const codes = { SIGINT: 130, SIGTERM: 143 } as const;
    let first: number | undefined;
    for (const signal of ['SIGINT', 'SIGTERM'] as const) {
      process.on(signal, () => {
        first ??= performance.now();
        if (performance.now() - first > oneSignal) process.exit(codes[signal]);
        resolve();
      });
    }
  });
}

type JobsWanted = { readonly allowStoredCode: readonly string[]; readonly maxJobs: number | undefined };

/** Returns the jobs of this machine for clients of the server. The code for jobs is loaded only if jobs are enabled. */
async function jobsOf(wanted: JobsWanted, { storageOptions: storage }: ServeOptions): Promise<ServerJobs> {
  const { openJobs, serverJobs } = await import('#jobs/entry.ts');
  return serverJobs(openJobs(), { ...wanted, storageOptions: storage });
}

type VendingWanted = {
  readonly roleArn: string;
  readonly region: string;
  readonly durationSeconds: number;
  readonly externalId: string | undefined;
};

/**
 * Opens the AWS role whose sessions give clients credentials for tables. The AWS libraries are loaded only if
 * `--vend-credentials` is given.
 */
async function openVending(wanted: VendingWanted): Promise<Vending> {
  const { TableRole } = await import('#cluster/entry.ts');
  const role = new TableRole(wanted);
  const [, partition = 'aws'] = wanted.roleArn.split(':');
  return {
    partition,
    region: wanted.region,
    startSession: (session, signal) => role.startSession(session, signal),
    close: () => role.close(),
  };
}

/** @throws UsageError */
function vendingOf(
  values: { readonly [K in `vend-${'credentials' | 'duration' | 'external-id' | 'region'}`]?: string | undefined },
  { keys, databases, storageOptions: storage = {} }: ServeOptions,
): VendingWanted | undefined {
  const { 'vend-credentials': roleArn, 'vend-duration': duration, 'vend-external-id': externalId } = values;
  if (roleArn === undefined) {
    const lone = (['vend-duration', 'vend-external-id', 'vend-region'] as const).find(
      (name) => values[name] !== undefined,
    );
    if (lone !== undefined) throw new UsageError(`--${lone} requires --vend-credentials.`);
    return undefined;
  }
  if (!/^arn:aws[a-z-]*:iam::\d{12}:role\/[\w+=,.@/-]+$/.test(roleArn))
    throw new UsageError(
      `Expected the ARN of a role, such as arn:aws:iam::123456789012:role/NAME, for --vend-credentials, got "${roleArn}".`,
    );
  meant(() => checkVending({ keys, databases }));
  const { least, most, usual } = vendDuration;
  const durationSeconds = duration === undefined ? usual : ageSeconds(duration);
  if (durationSeconds === undefined || durationSeconds < least || durationSeconds > most)
    throw new UsageError(`Expected a time from 15m to 12h for --vend-duration, got "${duration}".`);
  if (externalId !== undefined && !/^[\w+=,.@:/-]{2,1224}$/.test(externalId))
    throw new UsageError(`Expected 2 to 1,224 letters, digits and "+=,.@:/_-" for --vend-external-id.`);
  return { roleArn, region: regionOf(values['vend-region'], storage), durationSeconds, externalId };
}

/** Returns the region of the buckets, which becomes a part of the host name of STS. @throws UsageError */
function regionOf(given: string | undefined, storage: Readonly<Record<string, string>>): string {
  const ofStorage = Object.entries(storage).find(([name]) => /^(?:aws_?)?region$/i.test(name));
  const ofEnvironment = ['AWS_REGION', 'AWS_DEFAULT_REGION'].map((name) => [name, process.env[name]] as const);
  const sources = [['--vend-region', given], ofStorage ?? ['', undefined], ...ofEnvironment] as const;
  const [source, region] = sources.find(([, value]) => value !== undefined && value !== '') ?? [];
  if (source === undefined || region === undefined)
    throw new UsageError('--vend-credentials needs the region of the buckets: add --vend-region, or set AWS_REGION.');
  if (/^[a-z]{2,8}(?:-[a-z]{1,16}){1,3}-\d{1,2}$/.test(region)) return region;
  throw new UsageError(`Expected an AWS region, such as eu-west-1, for ${source}, got "${region}".`);
}

function optionsOf(args: readonly string[]): {
  options: ServeOptions;
  json: boolean;
  jobs: JobsWanted | undefined;
  vending: VendingWanted | undefined;
} {
  const { values } = parse(args, {
    root: { type: 'string' },
    database: { type: 'string', multiple: true },
    ...storageArguments,
    'api-key-env': { type: 'string' },
    keys: { type: 'string' },
    'no-auth': { type: 'boolean' },
    port: { type: 'string' },
    host: { type: 'string' },
    'tls-cert': { type: 'string' },
    'tls-key': { type: 'string' },
    'behind-proxy': { type: 'boolean' },
    'public-host': { type: 'string', multiple: true },
    json: { type: 'boolean' },
    jobs: { type: 'boolean' },
    'allow-stored-code': { type: 'string', multiple: true },
    'max-jobs': { type: 'string' },
    'vend-credentials': { type: 'string' },
    'vend-duration': { type: 'string' },
    'vend-external-id': { type: 'string' },
    'vend-region': { type: 'string' },
    'max-body': { type: 'string' },
    'max-requests': { type: 'string' },
    'idle-timeout': { type: 'string' },
    'query-processes': { type: 'string' },
    'query-memory': { type: 'string' },
    'query-timeout': { type: 'string' },
    grace: { type: 'string' },
  });
  if (values.root === undefined && !values.database) throw new UsageError('"serve" needs --root DIR.');
  const [cert, key] = [values['tls-cert'], values['tls-key']];
  if ((cert === undefined) !== (key === undefined)) throw new UsageError('Give --tls-cert and --tls-key together.');
  const options: ServeOptions = {
    databases: meant(() => databasesOf(values.root, values.database ?? [])),
    storageOptions: storageOptions(values),
    host: values.host ?? '127.0.0.1',
    port: wholeNumberArgument('--port', values.port, { most: 65_535, orZero: true }) ?? 2333,
    keys: keySource(values),
    tls: cert !== undefined && key !== undefined ? { cert, key } : undefined,
    behindProxy: values['behind-proxy'] ?? false,
    publicHosts: values['public-host'] ?? [],
    limits: limitsOf(values),
    write: joinLines((text) => void process.stderr.write(text)),
  };
  meant(() => checkExposure(options));
  const allowStoredCode = values['allow-stored-code'] ?? [];
  if (allowStoredCode.length > 0 && !values.jobs) throw new UsageError('--allow-stored-code requires --jobs.');
  const maxJobs = wholeNumberArgument('--max-jobs', values['max-jobs'], { most: 1000 });
  if (maxJobs !== undefined && !values.jobs) throw new UsageError('--max-jobs requires --jobs.');
  const jobs = values.jobs ? { allowStoredCode, maxJobs } : undefined;
  return { options, json: values.json ?? false, jobs, vending: vendingOf(values, options) };
}

/** Reports violated rules of the server as argument errors. */
function meant<T>(check: () => T): T {
  try {
    return check();
  } catch (error) {
    throw isCatalogError(error) ? new UsageError(error.message, { cause: error }) : error;
  }
}

function keySource(values: {
  'api-key-env'?: string | undefined;
  keys?: string | undefined;
  'no-auth'?: boolean | undefined;
}): KeySource {
  const { 'api-key-env': variable, keys: path, 'no-auth': none } = values;
  const sources: KeySource[] = [];
  if (variable !== undefined) sources.push({ kind: 'key', key: fromEnvironment(variable) });
  if (path !== undefined) sources.push({ kind: 'file', path });
  if (none) sources.push({ kind: 'none' });
  const [source, ...more] = sources;
  // Serving without a key must be explicit, because web pages and all users of this machine can reach a port on
  // loopback.
  if (!source || more.length > 0)
    throw new UsageError('Give exactly one of --keys FILE, --api-key-env NAME and --no-auth.');
  return source;
}

function limitsOf(values: {
  'max-body'?: string | undefined;
  'max-requests'?: string | undefined;
  'idle-timeout'?: string | undefined;
  'query-processes'?: string | undefined;
  'query-memory'?: string | undefined;
  'query-timeout'?: string | undefined;
  grace?: string | undefined;
}): Partial<ServeLimits> {
  const body = wholeNumberArgument('--max-body', values['max-body'], { most: 2 ** 30 });
  const requests = wholeNumberArgument('--max-requests', values['max-requests'], { most: 100_000 });
  const idle = wholeNumberArgument('--idle-timeout', values['idle-timeout'], { most: 86_400 });
  const grace = wholeNumberArgument('--grace', values.grace, { most: 86_400, orZero: true });
  const processes = wholeNumberArgument('--query-processes', values['query-processes'], { most: 1000 });
  const memory = wholeNumberArgument('--query-memory', values['query-memory'], { most: 2 ** 20 });
  const time = wholeNumberArgument('--query-timeout', values['query-timeout'], { most: 86_400 });
  return {
    ...(body !== undefined && { bodyBytes: body * 1024 ** 2 }),
    ...(requests !== undefined && { requests }),
    ...(idle !== undefined && { idle: idle * 1000 }),
    ...(grace !== undefined && { grace: grace * 1000 }),
    ...(processes !== undefined && { queryProcesses: processes }),
    ...(memory !== undefined && { queryMemory: memory * 1024 ** 2 }),
    ...(time !== undefined && {
      queryTime: time * 1000,
      writeTime: Math.max(time * 1000, defaultServeLimits.writeTime),
    }),
  };
}
