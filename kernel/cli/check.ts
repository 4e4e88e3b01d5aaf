import type { CheckEvent, CheckReport } from '#cluster/check.ts';
import type { CheckId } from '#cluster/checkIds.ts';
import type { ClusterProfile } from '#cluster/profile.ts';
import { exitCodeOf, exitCodes } from '#cluster/report/exitCode.ts';
import { progressOf, runFollower } from '#cluster/report/progress.ts';
import { reportJson } from '#cluster/report/reportJson.ts';
import { reportTable, type TableOptions } from '#cluster/report/reportTable.ts';
import { messageOf } from '#shared/errors.ts';
import { checkIdOf, explain, idsOf, listAll } from './checkLists.ts';
import { mendCheck } from './checkMend.ts';
import { profileHelp, profileLine, profileOfArguments, profileOptions, type ProfileArguments } from './checkProfile.ts';
import { catalogOfEnvironment } from './checkCatalog.ts';
import { UsageError, parse, type Command } from './command.ts';
import { progressLine } from './progressLine.ts';
import { stopBySignals } from './runSignals.ts';

const summary = `  lance-catalog check [--profile NAME] [--json | --short] [--only IDS] [--probe] [--strict]
      asks a Kubernetes cluster, its cloud and its catalog all that a backfill on it needs, and says what mends it`;

export const checkCommand: Command = {
  summary,
  help: `Verifies a cluster

${summary}
  lance-catalog check --list                    names all checks
  lance-catalog check --explain ID              what a check asks, and what to do about it
  lance-catalog check --mend ID [--apply]       prints the manifest, document or command that mends it

Which cluster
${profileHelp}

What is asked
  --only IDS          these checks, and what they need, with commas between; a category of --list stands for all of its
  --probe             also what leaves something behind for a moment: writes an object into the bucket and starts a pod,
                      both of which are removed

What is shown
  --json              the report as JSON; with "success", and "error" where it could not be made
  --short             only what is not as it should be
  --verbose           also what was asked and seen, of every check
  --strict            ends with 3 when there is a warning, or something that could not be found out

Mending
  --apply             of a mend that is Kubernetes objects: shows what the API server would make of it, asks, and applies
  --yes               applies without asking
  --force             also takes over fields that somebody else has set

The credentials are those that kubectl and the cloud's own tools go by; nothing changes without --probe or --apply. The
catalog of a profile gets its key from LANCE_CATALOG_API_KEY or LANCE_CATALOG_TOKEN.
Ends with 0 when nothing failed, 1 when something did, 2 when it could not be run or was stopped, 3 by --strict.`,
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
} as const;

async function run(args: readonly string[]): Promise<number> {
  const { values } = parse(args, options);
  if (values.json && values.short)
    throw new UsageError('--json has all that there is, so --short has no place beside it.');
  if (values.explain !== undefined) return explain(checkIdOf('--explain', values.explain));
  if (values.list) return listAll(values.json ?? false);
  const mend = values.mend === undefined ? undefined : checkIdOf('--mend', values.mend);
  for (const option of ['apply', 'yes', 'force'] as const)
    if (values[option] && mend === undefined) throw new UsageError(`--${option} goes with --mend ID.`);
  const only = values.only && idsOf(values.only);
  const stop = stopBySignals();
  // Who presses again does not want to wait for what is being cleaned up.
  stop.onRepeat(() => process.exit(stop.code));
  try {
    const profile = await profileOfArguments(values);
    const ask = asker(profile, { probe: values.probe ?? false, signal: stop.signal });
    if (mend !== undefined)
      return await mendCheck({
        ...values,
        profile,
        id: mend,
        mendCommand: mendCommandFor(values),
        ask,
        signal: stop.signal,
      });
    const report = await ask(only);
    process.stdout.write(values.json ? reportJson(report) : tableOf(report, values));
    return exitCodeOf(report, { strict: values.strict ?? false });
  } catch (error) {
    const said = stop.signal.aborted ? 'The checks were stopped before there was a report.' : messageOf(error);
    if (values.json) console.log(JSON.stringify({ version: 1, success: false, error: said }, null, 2));
    if (error instanceof UsageError) throw error;
    console.error(said);
    return exitCodes.notRun;
  } finally {
    stop.dispose();
  }
}

/** Runs checks of a profile, with a line on stderr that says how far they are. */
export type Ask = (only: readonly CheckId[] | undefined) => Promise<CheckReport>;

function asker(
  profile: ClusterProfile,
  { probe, signal }: { readonly probe: boolean; readonly signal: AbortSignal },
): Ask {
  return async (only) => {
    const { listChecks, verifyCluster } = await import('#cluster/clouds.ts');
    // What the needs of some add up to is known to the run alone.
    const catalogs = catalogOfEnvironment(process.env);
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

/** Progress for a person at a terminal; a log gets the report alone. */
function watcher(
  profile: string,
  total: number | undefined,
): { observe?: (event: CheckEvent) => void; end: () => void } {
  if (!process.stderr.isTTY) return { end: () => {} };
  const line = progressLine();
  const follow = runFollower(profile, total);
  return { observe: (event) => line.show(`${profile}: ${progressOf(follow(event))}`), end: () => line.clear() };
}

function tableOf(report: CheckReport, values: ProfileArguments & Pick<TableOptions, 'short' | 'verbose'>): string {
  const { isTTY, columns } = process.stdout;
  const colours = isTTY && !process.env['NO_COLOR'] && process.env['TERM'] !== 'dumb';
  const { short, verbose } = values;
  return reportTable(report, {
    short,
    verbose,
    mendCommand: mendCommandFor(values),
    colours,
    ...(isTTY && { width: columns }),
  });
}

/** What is typed for the mend of a check of the same cluster. */
const mendCommandFor =
  (values: ProfileArguments) =>
  (id: CheckId): string =>
    `lance-catalog check ${profileLine(values)} --mend ${id}`.replace('  ', ' ');
