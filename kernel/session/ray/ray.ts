import type { DashboardProxy } from '#cluster/kuberay/dashboardProxy.ts';
import type { OpenRayCluster } from '#cluster/kuberay/openRayCluster.ts';
import type { RayPod } from '#cluster/kuberay/rayPods.ts';
import type { RayProgress } from '#cluster/kuberay/waitForRay.ts';
import type { ClusterProfile } from '#cluster/profile.ts';
import type { RayTarget } from '#cluster/ray/rayRequest.ts';
import type { CheckReport } from '#cluster/result.ts';
import { catalogFinder } from '#session/cluster/catalogOfProfile.ts';
import { liveOutput } from '#session/display/live.ts';
import { htmlAndText, type RenderedOutput, textOnly } from '#session/display/mimeBundle.ts';
import { ownForms } from '#session/display/ownForms.ts';
import type { CatalogConfig } from '#shared/catalogConfig.ts';
import { alignColumns, escapeHtml, htmlRow } from '#shared/format/markup.ts';
import type { RayPlace } from '#shared/jobs/backfill.ts';
import { loadLazy } from '#shared/loadLazy.ts';
import { isAffirmative } from '#shared/records.ts';
import type { Ray, RayCluster, RayConnection, RayWaitOptions } from './rayTypes.ts';

/** Number of pods shown; more are only counted. */
const most = 20;

/** Shows the progress of a RayCluster in a cell: a sentence, its pods, and warnings. */
function showProgress({ sentence, pods }: RayProgress, warnings: readonly string[]): RenderedOutput {
  const rows = pods.slice(0, most).map(rowOf);
  const omitted = pods.length > most ? [`… and ${pods.length - most} more pods`] : [];
  const table =
    rows.length === 0 ? '' : `<table><tbody>${rows.map((row) => htmlRow('td', row)).join('')}</tbody></table>`;
  const notes = [...omitted, ...warnings];
  const html = `<p>${escapeHtml(sentence)}</p>${table}${notes.map((note) => `<p>${escapeHtml(note)}</p>`).join('')}`;
  return htmlAndText(html, [sentence, ...alignColumns(rows, 200), ...notes].join('\n'));
}

const rowOf = ({ name, isHead, group, state, reason }: RayPod): [string, string, string, string] => [
  name,
  isHead ? 'head' : `workers ${group ?? ''}`,
  state,
  reason ?? '',
];

type RayDeps = {
  /** Opens an output of the cell that can change; each call of the returned function replaces its content. */
  open: () => (shown: RenderedOutput) => void;
  signal: () => AbortSignal;
  /** Returns the catalog of `db`, if one is chosen. */
  catalog: () => CatalogConfig | null;
  /** Asks the user for a line; rejects if there is no input channel. */
  input: (question: string) => Promise<string>;
};

const loadClouds = () => loadLazy(() => import('#cluster/entry.ts'));

/** Creates `ray`. Its dependencies are a separate bundle, loaded on first use. */
export function createRay(parts: RayDeps): Ray {
  return {
    cluster: async (settings, options = {}) => {
      // The signal is read before the import, because another cell may be running when the bundle is loaded.
      const own = parts.signal();
      const show = parts.open();
      const signal = options.signal ? AbortSignal.any([own, options.signal]) : own;
      return makeCluster(parts, settings, { ...options, signal }, show);
    },
    connect: async (place, { token, signal: given } = {}) => {
      const own = parts.signal();
      const signal = given ? AbortSignal.any([own, given]) : own;
      if (typeof place === 'string') return connectTo({ address: place, token }, { address: place, token }, signal);
      const { openRayLink, readConnectSettings } = await loadClouds();
      const { profile, rayCluster } = readConnectSettings(place);
      const link = await openRayLink(await profileOf(profile, parts.input), { rayCluster, signal });
      try {
        return await connectTo({ profile, rayCluster }, link.target, signal, async () => link[Symbol.asyncDispose]());
      } catch (error) {
        await link[Symbol.asyncDispose]();
        throw error;
      }
    },
  };
}

/** @throws ClusterError ProgramNotTrusted if the profile leads to a program that the user does not accept */
async function profileOf(name: string, input: RayDeps['input']): Promise<ClusterProfile> {
  const { confirmPrograms, findProfiles } = await loadClouds();
  const profile = (await findProfiles({ folder: process.cwd(), environment: process.env })).profile(name);
  await confirmPrograms(profile, async (question) => isAffirmative(await input(`${question} [y/N] `)));
  return profile;
}

async function makeCluster(
  { catalog, input }: RayDeps,
  given: unknown,
  { signal, verify }: RayWaitOptions & { readonly signal: AbortSignal },
  show: (shown: RenderedOutput) => void,
): Promise<RayCluster> {
  const { createRayCluster, readRaySettings } = await loadClouds();
  const { profile, spec, onExit, from } = await readRaySettings(given, (name) => profileOf(name, input));
  const live = liveOutput(show);
  const warnings: string[] = [];
  const catalogs = catalogFinder(catalog());
  try {
    let last: RenderedOutput = textOnly('');
    const made = await createRayCluster(profile, spec, {
      signal,
      onExit,
      verify,
      resolveCatalog: catalogs.resolve,
      onWarning: (sentence) => warnings.push(sentence),
      onProgress: (progress) => {
        last = showProgress(progress, warnings);
        live.update(() => last);
      },
      confirm: (report) => confirmReport(report, input),
    });
    live.end(() => last);
    const { name } = spec;
    const place: RayPlace =
      typeof from === 'string' ? { profile: from, rayCluster: name } : { cluster: from, rayCluster: name };
    return clusterOf(made, place);
  } finally {
    await catalogs.close();
  }
}

/** Maximum number of failed checks listed in the question to the user. */
const mostShown = 5;

async function confirmReport(report: CheckReport, input: RayDeps['input']): Promise<boolean> {
  const failed = report.results.filter(({ status }) => status === 'fail').map(({ sentence }) => `- ${sentence}`);
  const more = failed.length > mostShown ? [`… and ${failed.length - mostShown} more.`] : [];
  try {
    const question = `Checks failed:\n${[...failed.slice(0, mostShown), ...more].join('\n')}\nCreate the RayCluster anyway? [y/N] `;
    return isAffirmative(await input(question));
  } catch {
    return false;
  }
}

function clusterOf(made: OpenRayCluster, place: RayPlace): RayCluster {
  const { name, namespace, adopted, rayVersion } = made;
  const words = `RayCluster ${namespace}/${name}, Ray ${rayVersion}`;
  const cluster = {
    name,
    namespace,
    adopted,
    version: rayVersion,
    dashboard: () => made.dashboard(),
    // Uses a timeout and not the signal of a cell, because the request must complete even if the cell is interrupted.
    suspend: () => made.suspend(AbortSignal.timeout(limit)),
    resume: () => made.resume(AbortSignal.timeout(limit)),
    delete: () => made.delete(AbortSignal.timeout(limit)),
    [Symbol.asyncDispose]: async () => void (await made.finish()),
  };
  return shownAs(words, place, cluster);
}

/** Timeout in milliseconds of requests to the API server. */
const limit = 30_000;

async function connectTo(
  place: RayPlace,
  target: RayTarget,
  signal: AbortSignal,
  close: () => Promise<void> = async () => {},
): Promise<RayConnection> {
  const { RayJobs, openDashboardProxy } = await loadClouds();
  const jobs = new RayJobs(target);
  try {
    const { version } = await jobs.version(signal);
    // The proxy for the dashboard. It is used if Ray is behind the API server or needs a token. Browsers reach any
    // other dashboard directly.
    let door: Promise<DashboardProxy> | undefined;
    const isDirect = target.socketPath === undefined && target.token === undefined;
    const dashboard = async (): Promise<string> => {
      if (isDirect) return target.address;
      door ??= openDashboardProxy(target).catch((error: unknown) => {
        // Forgets the failed proxy, so that the next call tries again.
        door = undefined;
        throw error;
      });
      return (await door).address;
    };
    const end = async (): Promise<void> => {
      try {
        await (await door)?.[Symbol.asyncDispose]();
      } finally {
        await close();
      }
    };
    return shownAs(`${jobs.subject}, version ${version}`, place, { version, dashboard, [Symbol.asyncDispose]: end });
  } finally {
    await jobs.close();
  }
}

/** Hides the place when the value is shown, because the place may contain a token; shows `words` instead. */
function shownAs<T extends object>(words: string, place: RayPlace, value: T): T & { readonly place: RayPlace } {
  Object.defineProperty(value, 'place', { value: place, enumerable: false });
  Object.defineProperty(value, ownForms, { value: () => textOnly(words).data });
  return value as T & { readonly place: RayPlace };
}
