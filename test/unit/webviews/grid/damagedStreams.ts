import { parentPort, workerData } from 'node:worker_threads';
import { tableToIPC } from '#arrow';
import { columnsOf } from '#shared/arrow/arrowTypes.ts';
import { Random } from '../../../contract/model/random.ts';
import {
  nestedTypes,
  plainTypes,
  randomData,
  tableOfColumns,
  textDictionary,
} from '../../../contract/tables/arrow/randomColumns.ts';
import { pagedFrame } from '../../../../webviews/grid/frame.ts';

// Runs in a worker: damages streams and gives each to the decoder of the page, as a response of the host. The worker
// counts its streams in shared memory, so that the test can name the one that it hangs in.

export type DamagedStreamsInput = { readonly count: number; readonly progress: Int32Array };

/** What became of the streams: `rows` were drawn, `failed` gave one error, `undrawable` threw while they were drawn. */
export type DamagedStreamsResult = { rows: number; failed: number; undrawable: number; wrong: string[] };

const rows = 12;

/** Returns streams of one column of every type, and their columns. */
function wholeStreams() {
  const types = Object.entries({
    ...plainTypes,
    dictionary: textDictionary(),
    ...Object.fromEntries(
      Object.entries(nestedTypes).flatMap(([name, nest]) =>
        ['int64', 'utf8', 'float'].map((inner) => [`${name}_${inner}`, nest(plainTypes[inner]!)]),
      ),
    ),
    deep: nestedTypes['list']!(nestedTypes['struct']!(nestedTypes['map']!(plainTypes['binary']!))),
  });
  return types.map(([name, type], index) => {
    const table = tableOfColumns({ [name]: randomData(new Random(index), type, rows) });
    return { columns: columnsOf(table.schema), bytes: tableToIPC(table, 'stream') };
  });
}

/** Cuts a stream, flips some of its bits, or overwrites a number by one that is often wrong. */
function damage(random: Random, bytes: Uint8Array): Uint8Array {
  const kind = random.below(4);
  if (kind === 0) return bytes.slice(0, random.below(bytes.length));
  const damaged = bytes.slice();
  if (kind === 1) {
    const view = new DataView(damaged.buffer);
    const at = 4 * random.below((damaged.length >> 2) - 1);
    const number = random.pick([0, -1, 1, 0x7f_ff_ff_ff, -0x80_00_00_00, 0x10_00_00_00, random.below(256)]);
    if (random.chance(0.5)) view.setInt32(at, number, true);
    else view.setBigInt64(at, BigInt(number) << BigInt(random.pick([0, 16, 32])), true);
    return damaged;
  }
  for (let flips = 1 + random.below(kind === 2 ? 1 : 8); flips > 0; flips--)
    damaged[random.below(damaged.length)]! ^= 1 << random.below(8);
  return damaged;
}

async function run({ count, progress }: DamagedStreamsInput): Promise<DamagedStreamsResult> {
  const result: DamagedStreamsResult = { rows: 0, failed: 0, undrawable: 0, wrong: [] };
  const streams = wholeStreams();
  for (let seed = 0; seed < count; seed++) {
    Atomics.store(progress, 0, seed);
    const random = new Random(seed);
    const { columns, bytes } = random.pick(streams);
    const page = damage(random, bytes);
    const table = { title: 'a/b', key: 'a', columns, numRows: rows, version: 1 };
    const frame = pagedFrame(table, () => Promise.resolve(page));
    // `show` never rejects.
    await frame.show(0, rows, [0]);
    const problem = frame.problem();
    try {
      let chars = 0;
      for (let row = 0; row < rows; row++) {
        const cell = frame.cell(row, 0);
        chars += (cell?.text.length ?? 0) + (frame.exactText(row, 0)?.length ?? 0);
        if ((cell === undefined || cell.kind === 'failed') !== (problem !== undefined))
          result.wrong.push(`seed ${seed}: a row without a cell or a reason`);
      }
      if (chars > 1_000_000) result.wrong.push(`seed ${seed}: ${chars} characters from ${page.length} bytes`);
      if (problem === undefined) result.rows++;
      else result.failed++;
      if (problem?.message === '') result.wrong.push(`seed ${seed}: an error without a sentence`);
    } catch (error) {
      // The grid says then that it can't draw the rows.
      result.undrawable++;
      if (!(error instanceof Error)) result.wrong.push(`seed ${seed}: threw ${String(error)}`);
    }
    frame.close();
  }
  return result;
}

parentPort?.postMessage(await run(workerData as DamagedStreamsInput));
