import { appendFile, chmod, readFile } from 'node:fs/promises';
import { databasesOf } from '#engine/serve/databases.ts';
import type { KeySource } from '#engine/serve/keyRing.ts';
import { makeKey, parseKeys } from '#engine/serve/keys.ts';
import { checkExposure, defaultServeLimits, type ServeLimits, type ServeOptions } from '#engine/serve/options.ts';
import { serve } from '#engine/serve/serve.ts';
import type { ServerJobs } from '#engine/server/serverJobs.ts';
import { CatalogError, isCatalogError, messageOf } from '#shared/errors.ts';
import { fromEnvironment, storageArguments, storageHelp, storageOptions } from './catalogArguments.ts';
import { type Command, parse, UsageError } from './command.ts';

export const newKeyUsage = `  lance-catalog serve new-key NAME [--read-only] [--database NAME …] [--keys FILE]
      makes a key and prints it, once; its line goes to the file of keys, or to stderr when none is named`;

/** `serve new-key`: prints the key for the user; the line for the file has only its hash. */
export async function newKey(args: readonly string[]): Promise<number> {
  const { values, positionals } = parse(
    args,
    { 'read-only': { type: 'boolean' }, database: { type: 'string', multiple: true }, keys: { type: 'string' } },
    true,
  );
  const [name, ...more] = positionals;
  if (name === undefined || more.length > 0) throw new UsageError('"serve new-key" needs one NAME.');
  const { key, line } = makeKey(name, values['read-only'] ? 'read-only' : 'read-write', values.database ?? '*');
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
    // Checked before writing: a server that reads the file ignores changes while a line is invalid.
    const name = line.split(' ', 1)[0];
    if (before !== undefined && before.trim() !== '' && parseKeys(before).some((key) => key.name === name)) {
      throw new CatalogError('InvalidInput', `"${path}" has a key "${name}" already.`, 'Choose another name.');
    }
    parseKeys(`${before ?? ''}${start}${line}`);
    await appendFile(path, `${start}${line}\n`, { mode: 0o600 });
    if (before === undefined) await chmod(path, 0o600);
  } catch (cause) {
    if (cause instanceof CatalogError) throw cause;
    throw new CatalogError(
      'InvalidInput',
      `"${path}" can't be written: ${messageOf(cause)}.`,
      'Name another --keys FILE.',
      {
        cause,
      },
    );
  }
}

const summary = `  lance-catalog serve --root DIR (--keys FILE | --api-key-env NAME | --no-auth) [--port N] …
      serves the tables in a directory or an object store over REST
${newKeyUsage}`;

export const serveCommand: Command = {
  summary,
  help: `Serves catalogs to a team, by the Lance Namespace REST specification

${summary}

What is served
  --root DIR|s3://…             the directory or the address that holds the tables
  --database NAME[=ROOT]        a database of this name, several times for several; without ROOT the folder NAME below
                                --root. Clients name it in the header x-service-database, or as the first label of the
                                host (NAME.catalog.example.com with --public-host catalog.example.com), in capital
                                letters or not; a name with a dot goes in the header alone. The header
                                x-service-database-prefix chooses a folder below the database (team/north) or, without
                                a name in either place, the database and the folder (NAME/team/north)
${storageHelp}

Who may ask; every request but /healthz and /readyz needs a key, as x-api-key or Authorization: Bearer
  --api-key-env NAME            one key, which may do everything, in an environment variable
  --keys FILE                   a file that only you can read (mode 600), with a line for each key:
                                NAME SHA256 read-only|read-write DATABASE,DATABASE|*
                                It is read again when it changes; a file with a mistake changes nothing
  --no-auth                     nobody needs a key; on this machine alone

Where
  --port N                      2333 when not given; 0 for a free one
  --host ADDRESS                127.0.0.1 when not given; another one needs TLS or a proxy:
  --tls-cert FILE --tls-key FILE  PEM files, read again when they change
  --behind-proxy                a proxy in front takes care of TLS
  --public-host NAME            a name by which clients know the server, several times for several; requests for
                                other names than these, localhost and the address are refused
  --json                        prints {"address","port","pid","databases"} to stdout once it listens

Backfills
  --jobs                        computes columns for clients, as jobs of this machine that outlive the server; without it
                                they are refused. Expressions of SQL run; functions in a language only when they were
                                accepted on this machine, or
  --allow-stored-code HASH      by this, several times for several

How much
  --max-body MB                 of a request with rows; ${defaultServeLimits.bodyBytes / 1024 ** 2} when not given
  --max-requests N              at a time; ${defaultServeLimits.requests} when not given
  --idle-timeout SECONDS        that a request or an answer may stand still; ${defaultServeLimits.idle / 1000} when not given
  --grace SECONDS               for requests under way when it is told to end; ${defaultServeLimits.grace / 1000} when not given

/healthz says that the process runs, /readyz that it can read its roots, /metrics (with a key) counts for Prometheus.
The log is JSON lines on stderr. SIGTERM and Ctrl-C finish what is under way; a second one does not wait.
On Linux with glibc, MALLOC_ARENA_MAX=2 in the environment lowers the memory that long scans leave behind by a quarter.`,
  run,
};

async function run(args: readonly string[]): Promise<number> {
  if (args[0] === 'new-key') return newKey(args.slice(1));
  const { options, json, jobs } = optionsOf(args);
  const running = await serve({ ...options, ...(jobs && { jobs: await jobsOf(jobs, options) }) });
  const databases = options.databases.map(({ name }) => name);
  if (json) {
    process.stdout.write(
      `${JSON.stringify({ address: running.address, port: running.port, pid: process.pid, databases })}\n`,
    );
  } else {
    const roots = options.databases.map(({ root }) => root).join(', ');
    console.error(`Serving ${roots} at ${running.address}; Ctrl-C ends it.`);
  }
  await asked();
  await running.close();
  // The engine's threads would delay the end of the process.
  process.exit(0);
}

/**
 * Milliseconds within which signals count as one: a terminal sends Ctrl-C to all processes, and the parent process
 * forwards it too.
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

type JobsWanted = { readonly allowStoredCode: readonly string[] };

/** Returns the jobs of this machine for clients of the server. Loaded only if jobs are enabled. */
async function jobsOf({ allowStoredCode }: JobsWanted, { storageOptions: storage }: ServeOptions): Promise<ServerJobs> {
  const { openJobs, serverJobs } = await import('#jobs/entry.ts');
  return serverJobs(openJobs(), { allowStoredCode, storageOptions: storage });
}

function optionsOf(args: readonly string[]): {
  options: ServeOptions;
  json: boolean;
  jobs: JobsWanted | undefined;
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
    'max-body': { type: 'string' },
    'max-requests': { type: 'string' },
    'idle-timeout': { type: 'string' },
    grace: { type: 'string' },
  });
  if (values.root === undefined && !values.database) throw new UsageError('"serve" needs --root DIR.');
  const [cert, key] = [values['tls-cert'], values['tls-key']];
  if ((cert === undefined) !== (key === undefined)) throw new UsageError('Give --tls-cert and --tls-key together.');
  const options: ServeOptions = {
    databases: meant(() => databasesOf(values.root, values.database ?? [])),
    storageOptions: storageOptions(values),
    host: values.host ?? '127.0.0.1',
    port: wholeNumber('--port', values.port, 65_535, true) ?? 2333,
    keys: keySource(values),
    tls: cert !== undefined && key !== undefined ? { cert, key } : undefined,
    behindProxy: values['behind-proxy'] ?? false,
    publicHosts: values['public-host'] ?? [],
    limits: limitsOf(values),
    write: (line) => void process.stderr.write(`${line}\n`),
  };
  meant(() => checkExposure(options));
  const allowStoredCode = values['allow-stored-code'] ?? [];
  if (allowStoredCode.length > 0 && !values.jobs) throw new UsageError('--allow-stored-code goes with --jobs.');
  return { options, json: values.json ?? false, jobs: values.jobs ? { allowStoredCode } : undefined };
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
  // Web pages and all users of this machine can reach a port on loopback, so serving without a key must be explicit.
  if (!source || more.length > 0) throw new UsageError('Give one of --keys FILE, --api-key-env NAME and --no-auth.');
  return source;
}

function limitsOf(values: {
  'max-body'?: string | undefined;
  'max-requests'?: string | undefined;
  'idle-timeout'?: string | undefined;
  grace?: string | undefined;
}): Partial<ServeLimits> {
  const body = wholeNumber('--max-body', values['max-body'], 2 ** 30);
  const requests = wholeNumber('--max-requests', values['max-requests'], 100_000);
  const idle = wholeNumber('--idle-timeout', values['idle-timeout'], 86_400);
  const grace = wholeNumber('--grace', values.grace, 86_400, true);
  return {
    ...(body !== undefined && { bodyBytes: body * 1024 ** 2 }),
    ...(requests !== undefined && { requests }),
    ...(idle !== undefined && { idle: idle * 1000 }),
    ...(grace !== undefined && { grace: grace * 1000 }),
  };
}

function wholeNumber(option: string, text: string | undefined, most: number, orZero = false): number | undefined {
  if (text === undefined) return undefined;
  const number = Number(text);
  if (/^\d+$/.test(text) && number <= most && (orZero || number > 0)) return number;
  throw new UsageError(`${option} needs a whole number from ${orZero ? 0 : 1} to ${most}.`);
}
