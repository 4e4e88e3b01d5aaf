import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { registerRest } from '#catalog/rest/register.ts';
import { categoryTitles, type CheckId, checkIds, checkIdsByCategory, isCheckId } from '#cluster/checkIds.ts';
import { isClusterError } from '#cluster/errors.ts';
import { shellCommand } from '#cluster/fixes/commands.ts';
import type { ClusterProfile } from '#cluster/profile.ts';
import { profileFields } from '#cluster/profiles/profileFields.ts';
import { formatProgress, createProgressTracker } from '#cluster/report/progress.ts';
import { reportJson } from '#cluster/report/reportJson.ts';
import { reportTable, type TableOptions } from '#cluster/report/reportTable.ts';
import { docsPath, exitCodeOf, exitCodes } from '#cluster/report/summary.ts';
import type { CheckEvent, CheckReport } from '#cluster/result.ts';
import { registerDir } from '#engine/register.ts';
import { catalogOfArgument, catalogVariables } from '#session/catalogArgument.ts';
import { catalogFinder, type CatalogFinder } from '#session/cluster/catalogOfProfile.ts';
import { chooseProfile } from '#session/cluster/chooseProfile.ts';
import { messageOf } from '#shared/errors.ts';
import { allowPrograms } from './allowPrograms.ts';
import { keptKeyHint } from './catalogArguments.ts';
import { type Ask, runFixCommand } from './checkFix.ts';
import { type Command, parse, UsageError } from './command.ts';
import { installation } from './installation.ts';
import { stopBySignals } from './signals.ts';
import { progressLine, terminalText } from './terminal.ts';

/** Parses a check id of an option. @throws UsageError if there is no such check */
export function checkIdOf(option: string, text: string): CheckId {
  if (isCheckId(text)) return text;
  throw new UsageError(
    `Expected a check id for ${option}, got "${text}". Run lance-catalog check --list to see all ids.`,
  );
}

/** Returns the checks of `--only`, given as ids or categories. @throws UsageError for any other value */
export function idsOf(texts: readonly string[]): readonly CheckId[] {
  const named = texts.flatMap((text) => text.split(',').map((each) => each.trim())).filter((each) => each !== '');
  if (named.length === 0) throw new UsageError('--only needs a check id.');
  return named.flatMap((each) => idsOfCategory(each) ?? checkIdOf('--only', each));
}

const idsOfCategory = (text: string): readonly CheckId[] | undefined =>
  Object.hasOwn(checkIdsByCategory, text) ? checkIdsByCategory[text as keyof typeof checkIdsByCategory] : undefined;

/** `--list`: prints every check by category, with its title. */
export async function listAll(asJson: boolean): Promise<number> {
  const { listChecks } = await import('#cluster/entry.ts');
  const checks = listChecks();
  if (asJson) {
    console.log(JSON.stringify(checks, null, 2));
    return 0;
  }
  const width = Math.max(...checkIds.map((id) => id.length));
  const blocks = Object.entries(categoryTitles).flatMap(([category, title]) => {
    const own = checks.filter((check) => check.category === category);
    const lines = own.map((check) => `  ${check.id.padEnd(width)}  ${check.title}${check.writes ? ' (--probe)' : ''}`);
    return lines.length === 0 ? [] : [[`${category}: ${title}`, ...lines].join('\n')];
  });
  console.log(blocks.join('\n\n'));
  return 0;
}

/** `--explain ID`: prints the check's section of the documentation. */
export async function explain(id: CheckId): Promise<number> {
  const text = await readFile(join(installation, docsPath), 'utf8');
  const section = text.split(/^(?=##? )/m).find((each) => each.startsWith(`## ${id}\n`));
  console.log(section?.replace(/^## /, '').trimEnd() ?? `${id} is not explained in ${docsPath}.`);
  return 0;
}

export const profileOptions = {
  profile: { type: 'string' },
  settings: { type: 'string' },
  kubeconfig: { type: 'string' },
  context: { type: 'string' },
  namespace: { type: 'string', short: 'n' },
  'service-account': { type: 'string' },
  storage: { type: 'string' },
} as const;

export type ProfileArguments = { readonly [K in keyof typeof profileOptions]?: string | undefined };

const { namespace, serviceAccount } = profileFields;

export const profileHelp = `  --profile NAME      a profile of lanceCatalog.cluster.profiles; optional if there is only one. Profiles are read from
                      the environment variable LANCE_CATALOG_CLUSTERS (JSON), else from .vscode/settings.json here or
                      above
  --settings FILE     read profiles from this settings file instead
  --context NAME, --kubeconfig FILE, --namespace NAME, --service-account NAME, --storage s3://… | gs://…
                      describe a cluster without a profile by any of these options (defaults: the current context of the
                      kubeconfig, the namespace ${namespace.default}, the service account ${serviceAccount.default})`;

/** The options that describe a cluster, and the profile field that each option sets. */
const fields = {
  kubeconfig: 'kubeconfig',
  context: 'context',
  namespace: 'namespace',
  'service-account': 'serviceAccount',
  storage: 'storage',
} as const;

/**
 * Reads the profile that the arguments select or describe.
 * @throws UsageError if arguments conflict; ClusterError ProfileInvalid if the profile is missing or invalid
 */
export async function profileOfArguments(args: ProfileArguments): Promise<ClusterProfile> {
  const { findProfiles, readProfile, withoutPlace } = await import('#cluster/entry.ts');
  const given = Object.entries(fields).flatMap(([option, field]) => {
    const value = args[option as keyof typeof fields];
    return value === undefined ? [] : [[option, field, value] as const];
  });
  const [first] = given;
  if (first) {
    if (args.profile !== undefined || args.settings !== undefined)
      throw new UsageError(
        `--${first[0]} describes a cluster without a profile. Don't combine it with --profile or --settings.`,
      );
    const value = Object.fromEntries(given.map(([, field, text]) => [field, text]));
    try {
      return readProfile(args.context || 'current context', { configMethod: 'LOCAL', ...value });
    } catch (error) {
      // Without a profile, the error is about an option of the command line.
      const [field, problem] = isClusterError(error) ? (withoutPlace(error) ?? []) : [];
      const typed = given.find(([, one]) => one === field);
      throw typed ? new UsageError(`--${typed[0]} ${problem}`, { cause: error }) : error;
    }
  }
  const found = await findProfiles({ folder: process.cwd(), environment: process.env, settings: args.settings });
  return chooseProfile(found, args.profile, {
    which: (names) => `Choose one: --profile ${names.join(', --profile ')}.`,
    without: 'describe a cluster without a profile with --context',
  });
}

/** Returns the given arguments as text, for another command on the same cluster. */
export const profileLine = (args: ProfileArguments): string =>
  shellCommand(
    ...Object.keys(profileOptions).flatMap((option) => {
      const value = args[option as keyof ProfileArguments];
      return value === undefined ? [] : [`--${option}`, value];
    }),
  );

/**
 * Returns a finder that opens a profile's catalog with credentials from environment variables.
 * @param sendsKeys whether the user named the profile's settings, or trusts them. If not, no key is sent, because the
 * author of a repository could choose the server that gets the key
 */
export function catalogOfEnvironment(
  env: Readonly<Record<string, string | undefined>>,
  sendsKeys: boolean,
): CatalogFinder {
  registerDir();
  registerRest();
  const keys = { apiKey: env[catalogVariables.apiKey], token: env[catalogVariables.token] };
  const isKept = !sendsKeys && Object.values(keys).some(Boolean);
  return catalogFinder(catalogOfArgument(undefined, env), isKept ? { keyHint: hintOfCheck } : keys);
}

const hintOfCheck = keptKeyHint(
  'a settings file of this folder',
  `Set ${catalogVariables.catalog} to the server's URL too`,
);

const summary = `  lance-catalog check [--profile NAME] [--json | --short] [--only IDS] [--probe] [--strict]
      check that a Kubernetes cluster, its cloud and its catalog can run a backfill, and suggest fixes`;

export const checkCommand: Command = {
  summary,
  help: `Checks a cluster

${summary}
  lance-catalog check --list                    list all checks
  lance-catalog check --explain ID              explain a check and how to fix it
  lance-catalog check --mend ID [--apply]       print the manifest, document or command that fixes it

Cluster
${profileHelp}

  --trust             run the programs that the profile signs in with, now and later, without a prompt; only profiles found
                      in this folder or a folder above it need this: their author could choose a program to run here

Checks
  --only IDS          run only these checks and those that they need; separated by commas; a category of --list selects
                      all of its checks
  --probe             also run checks that create temporary objects: they write an object to the bucket and start a pod,
                      and remove both

Output
  --json              print the report as JSON, with the field "success"; without a report also "error"
  --short             print problems only
  --verbose           also print the evidence of every check
  --strict            exit with 3 if there is a warning or an unknown result

Fixes
  --apply             if the fix is a manifest: show the changes that the API server would make, prompt, and apply it
  --yes               apply without a prompt
  --force             also take over fields that other clients manage

Credentials are those of kubectl and of the cloud's own tools. Nothing changes without --probe or --apply. The API key
or token for the catalog of a profile is read from LANCE_CATALOG_API_KEY or LANCE_CATALOG_TOKEN. If the profile was
found by searching, the key is sent only with --trust, or if LANCE_CATALOG names the same server.
Exit code 0 if no check failed, 1 if one failed, 2 if the checks could not run or were stopped, 3 with --strict.`,
  run,
};

const options = {
  ...profileOptions,
  json: { type: 'boolean' },
  short: { type: 'boolean' },
  verbose: { type: 'boolean' },
  only: { type: 'string', multiple: true },
  probe: { type: 'boolean' },
  strict: { type: 'boolean' },
  list: { type: 'boolean' },
  explain: { type: 'string' },
  mend: { type: 'string' },
  apply: { type: 'boolean' },
  yes: { type: 'boolean' },
  force: { type: 'boolean' },
  trust: { type: 'boolean' },
} as const;

async function run(args: readonly string[]): Promise<number> {
  const { values } = parse(args, options);
  if (values.json && values.short)
    throw new UsageError("--json always has the whole report. Don't combine it with --short.");
  if (values.explain !== undefined) return explain(checkIdOf('--explain', values.explain));
  if (values.list) return listAll(values.json ?? false);
  const mend = values.mend === undefined ? undefined : checkIdOf('--mend', values.mend);
  for (const option of ['apply', 'yes', 'force'] as const)
    if (values[option] && mend === undefined) throw new UsageError(`--${option} requires --mend ID.`);
  const only = values.only && idsOf(values.only);
  const stop = stopBySignals();
  // A second signal ends the process without waiting for the cleanup.
  stop.onRepeat(() => process.exit(stop.code));
  try {
    const profile = await profileOfArguments(values);
    await allowPrograms(profile, values.trust ?? false, stop.signal);
    const sendsKeys = profile.auth.foundIn === undefined || values.trust === true;
    const ask = asker(profile, { probe: values.probe ?? false, sendsKeys, signal: stop.signal });
    if (mend !== undefined)
      return await runFixCommand({
        ...values,
        profile,
        id: mend,
        fixCommand: fixCommandFor(values),
        ask,
        signal: stop.signal,
      });
    const report = await ask(only);
    process.stdout.write(values.json ? reportJson(report) : tableOf(report, values));
    return exitCodeOf(report, { strict: values.strict ?? false });
  } catch (error) {
    const said = stop.signal.aborted ? 'The checks were stopped before they finished.' : messageOf(error);
    if (values.json) console.log(JSON.stringify({ version: 1, success: false, error: said }, null, 2));
    if (error instanceof UsageError) throw error;
    console.error(terminalText(said));
    return exitCodes.notRun;
  } finally {
    stop.dispose();
  }
}

function asker(
  profile: ClusterProfile,
  { probe, sendsKeys, signal }: { readonly probe: boolean; readonly sendsKeys: boolean; readonly signal: AbortSignal },
): Ask {
  return async (only) => {
    const { listChecks, verifyCluster } = await import('#cluster/entry.ts');
    // With `--only`, the total is unknown here, because the run adds the needed checks.
    const catalogs = catalogOfEnvironment(process.env, sendsKeys);
    const watch = watcher(profile.name, only === undefined ? listChecks().length : undefined);
    try {
      return await verifyCluster(profile, {
        signal,
        probe,
        only,
        observe: watch.observe,
        resolveCatalog: catalogs.resolve,
      });
    } finally {
      watch.end();
      await catalogs.close();
    }
  };
}

/**
 * Returns an observer that shows progress in a terminal. Without a terminal it shows nothing, so a log gets only the
 * report.
 */
function watcher(
  profile: string,
  total: number | undefined,
): { observe?: (event: CheckEvent) => void; end: () => void } {
  if (!process.stderr.isTTY) return { end: () => {} };
  const line = progressLine();
  const follow = createProgressTracker(profile, total);
  return { observe: (event) => line.show(`${profile}: ${formatProgress(follow(event))}`), end: () => line.clear() };
}

function tableOf(report: CheckReport, values: ProfileArguments & Pick<TableOptions, 'short' | 'verbose'>): string {
  const { isTTY, columns } = process.stdout;
  const colours = isTTY && !process.env['NO_COLOR'] && process.env['TERM'] !== 'dumb';
  const { short, verbose } = values;
  return reportTable(report, {
    short,
    verbose,
    fixCommand: fixCommandFor(values),
    colours,
    ...(isTTY && { width: columns }),
  });
}

/** Returns the command line that prints the fix of a check of the same cluster. */
const fixCommandFor =
  (values: ProfileArguments) =>
  (id: CheckId): string =>
    `lance-catalog check ${profileLine(values)} --mend ${id}`.replace('  ', ' ');
