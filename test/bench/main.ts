import { parseArgs } from 'node:util';
import { buildAll, isStale } from '../../scripts/build.ts';
import { onInterrupt } from '../../scripts/processes.ts';
import { closeSharedBrowser } from '../harness/browser.ts';
import type { Need } from '../harness/needs/installing.ts';
import { kubeNeeds } from '../harness/needs/kubeNeeds.ts';
import { benchNeeds, missing, needsOf, report } from '../harness/needs/needs.ts';
import { rayNeeds } from '../harness/needs/rayNeeds.ts';
import { ownNetwork } from '../harness/ownNetwork.ts';
import { benchBackfill } from './backfill.ts';
import { lanceRayNeed } from './backfillPeers.ts';
import { benchCatalogModel } from './catalogModel.ts';
import { benchCluster } from './cluster.ts';
import { benchGallery } from './gallery/gallery.ts';
import { benchGrid } from './grid/grid.ts';
import { benchGrowth } from './growth/growth.ts';
import { benchHostile } from './hostile.ts';
import { benchKernel } from './kernel.ts';
import { peerKernels } from './kernelPeers.ts';
import { benchLanguage } from './language.ts';
import { benchLife } from './life.ts';
import { busyShare, type Figure, isMissed, keep, machine } from './report.ts';
import { benchRest } from './rest.ts';
import { benchSql } from './sql/sql.ts';
import { benchViews } from './views/views.ts';

const help = `npm run bench -- [name …] [options]
  names            rest, sql, views, growth, grid, gallery, kernel, language, life, cluster, backfill, catalog-model, hostile; without one all of them
  --runs N         measured runs of each way; 5
  --rows N[,N …]   rest, sql, views: millions of rows to read; 1,10
  --memory N       rest: millions of rows at which memory is compared with that of 1 million; 50, 0 for not at all
  --before FILE    rest, growth: dist/cli.cjs of an older build, whose serve and backfills are measured in turns
  --seconds N      hostile: how long; 600
  --minutes N      grid: how long memory is measured while tables are scrolled; 0, 5 and 60 are useful
  --cells N        kernel: cells that run before the second measurement; 500
  --long N         life: cells of one kernel's life; 10000
  --operations N   catalog-model: operations on all subjects together; 50000
  --seed N         catalog-model: seed of the first sequence; taken from the clock
Beside each figure is that of its peer, measured in the same run; catalog-model and hostile have none. Ends with 1 when a goal is missed.
Needs Linux; upstream's clients, other kernels, a Kubernetes API, lance-ray (all installed when they are missing) and 3 GB of disk for
the rows.`;

type Options = Exclude<ReturnType<typeof readArguments>, string>;
type Bench = { needs: readonly Need[]; measure: (options: Options) => Promise<Figure[]> };

const benches: Readonly<Record<string, Bench>> = {
  rest: { needs: benchNeeds, measure: benchRest },
  sql: { needs: benchNeeds, measure: benchSql },
  views: { needs: benchNeeds, measure: benchViews },
  kernel: { needs: [...benchNeeds, peerKernels], measure: benchKernel },
  language: { needs: [], measure: benchLanguage },
  life: { needs: [], measure: benchLife },
  cluster: { needs: kubeNeeds, measure: benchCluster },
  backfill: { needs: [ownNetwork, ...benchNeeds, ...rayNeeds, lanceRayNeed], measure: benchBackfill },
  'catalog-model': { needs: benchNeeds, measure: benchCatalogModel },
  hostile: { needs: [], measure: benchHostile },
  growth: { needs: benchNeeds, measure: benchGrowth },
  grid: { needs: needsOf.ui, measure: benchGrid },
  gallery: { needs: needsOf.ui, measure: benchGallery },
};

/** `npm run bench`: prints figures beside the figures of the peers. Returns the exit code. */
export async function main(args: readonly string[]): Promise<number> {
  const options = readArguments(args);
  if (typeof options === 'string') {
    console.error(options);
    return 2;
  }
  if (options.help) {
    console.log(help);
    return 0;
  }
  onInterrupt(async () => {});
  const needs = missing(options.names.flatMap((name) => benches[name]!.needs));
  for (const line of report(needs)) console.log(line);
  for (const need of needs) await need.install(console.log);
  if (isStale() && (await buildAll(console.log)) > 0) return 1;
  let missed = 0;
  for (const name of options.names) {
    const on = { ...machine(), busy: await busyShare() };
    const others = on.busy > 0.1 ? ', BUSY WITH SOMETHING ELSE' : '';
    console.log(
      `${name}: ${on.cores} × ${on.cpu}, ${on.memoryMb} MB, Node ${on.node}, load ${on.load.toFixed(1)}${others}`,
    );
    const figures = await benches[name]!.measure(options);
    missed += figures.filter((figure) => isMissed(figure)).length;
    console.log(`kept in ${keep(name, { machine: on, runs: options.runs, figures })}`);
  }
  await closeSharedBrowser();
  console.log(missed === 0 ? 'all goals met' : `${missed} goals missed`);
  return missed === 0 ? 0 : 1;
}

/** @throws the error of an unknown option, for which boot.mjs prints a message */
function readArguments(args: readonly string[]) {
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: {
      runs: { type: 'string', default: '5' },
      rows: { type: 'string', default: '1,10' },
      memory: { type: 'string', default: '50' },
      minutes: { type: 'string', default: '0' },
      cells: { type: 'string', default: '500' },
      long: { type: 'string', default: '10000' },
      operations: { type: 'string', default: '50000' },
      before: { type: 'string' },
      seconds: { type: 'string', default: '600' },
      seed: { type: 'string', default: String(Date.now() % 2 ** 31) },
      help: { type: 'boolean', default: false },
    },
  });
  const unknown = positionals.find((name) => !Object.hasOwn(benches, name));
  if (unknown !== undefined) return `"${unknown}" is no benchmark; there are: ${Object.keys(benches).join(', ')}.`;
  const names = positionals.length === 0 ? Object.keys(benches) : positionals;
  const sizes = values.rows === '' ? [] : values.rows.split(',').map(Number);
  const numbers = [
    values.runs,
    values.memory,
    values.cells,
    values.long,
    values.operations,
    values.seed,
    values.seconds,
  ].map(Number);
  const [runs = 0, memory = 0, cells = 0, long = 0, operations = 0, seed = 0, seconds = 0] = numbers;
  if (
    ![runs, cells, long, operations, seed, seconds, ...sizes].every((number) => Number.isInteger(number) && number > 0)
  )
    return 'Give whole numbers from 1.';
  const minutes = Number(values.minutes);
  if (!(minutes >= 0)) return 'Give --minutes as a number from 0.';
  if (!Number.isInteger(memory) || memory < 0) return 'Give --memory as a whole number.';
  return {
    help: values.help,
    names,
    runs,
    sizes,
    cells,
    long,
    operations,
    seed,
    seconds,
    minutes,
    before: values.before,
    memory: memory === 0 ? undefined : memory,
    say: console.log,
  };
}
