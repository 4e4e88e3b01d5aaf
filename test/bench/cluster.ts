import { verifyCluster } from '#cluster/verifyCluster.ts';
import { askedTwice, type AuditedRequest } from '../cluster/parts/auditLog.ts';
import { soundCluster, type SoundCluster } from '../cluster/parts/soundCluster.ts';
import { askByKubectl, canIList } from './kubectl.ts';
import { lineOf, median, type Figure } from './report.ts';

/** On a sound cluster at least this many checks must pass. Otherwise a run that checked nothing would count as fast. */
const leastPassed = 40;

/**
 * Measures all checks against a real API server on this machine. Compares them with kubectl's list of permissions, and
 * with the same requests sent by kubectl one after another, as in a script.
 */
export async function benchCluster(options: { runs: number; say: (line: string) => void }): Promise<Figure[]> {
  const cluster = await soundCluster();
  try {
    const first = await timed(() => verify(cluster));
    const mark = cluster.audit.mark();
    const passed = await verify(cluster);
    const asked = cluster.audit.since(mark);
    const [ours, byKubectl, list] = await takeTurns(options.runs, cluster, asked);
    options.say(`${passed} checks pass on a sound cluster, median of ${options.runs}:`);
    const figures: Figure[] = [
      { name: 'all checks, warm', value: ours, unit: 'ms', goal: 1000 },
      { name: 'all checks, the first run of a process', value: first, unit: 'ms' },
      { name: 'requests of a run', value: asked.length, unit: 'requests' },
      { name: 'requests that were asked more than once', value: askedTwice(asked).length, unit: 'requests', goal: 0 },
      { name: 'kubectl auth can-i --list', value: list, unit: 'ms' },
      { name: 'the same questions by kubectl', value: byKubectl, unit: 'ms' },
      { name: 'all checks / the same questions by kubectl', value: ours / byKubectl, unit: '×', goal: 1 },
    ];
    for (const figure of figures) options.say(lineOf(figure));
    return figures;
  } finally {
    await cluster.stop();
  }
}

/** Returns medians in milliseconds. The ways run in turns, so that other load on the machine affects all of them. */
async function takeTurns(
  runs: number,
  cluster: SoundCluster,
  asked: readonly AuditedRequest[],
): Promise<[ours: number, byKubectl: number, list: number]> {
  const times: [number[], number[], number[]] = [[], [], []];
  const people = { alice: cluster.kubeconfig('alice'), admin: cluster.kubeconfig('admin') };
  for (let run = 0; run < runs; run++) {
    times[0].push(await timed(() => verify(cluster)));
    times[1].push(await timed(() => askByKubectl(asked, people)));
    times[2].push(await timed(() => canIList(cluster.profile.namespace, people.alice)));
  }
  return [median(times[0]), median(times[1]), median(times[2])];
}

/** @returns how many checks passed @throws Error if a check failed, warned or was blocked, or if too few passed */
async function verify({ profile }: SoundCluster): Promise<number> {
  const { results } = await verifyCluster(profile, { signal: AbortSignal.timeout(60_000) });
  const wrong = results.filter(({ status }) => status === 'fail' || status === 'warn' || status === 'blocked');
  const passed = results.filter(({ status }) => status === 'pass').length;
  if (wrong.length > 0 || passed < leastPassed)
    throw new Error(
      `Of a sound cluster ${passed} checks passed; wrong: ${wrong.map(({ sentence }) => sentence).join(' ')}`,
    );
  return passed;
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const started = performance.now();
  await work();
  return performance.now() - started;
}
