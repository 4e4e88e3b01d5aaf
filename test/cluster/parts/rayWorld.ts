import { execFileSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { RayJobs } from '#cluster/ray/rayJobs.ts';
import { inRoot } from '../../../scripts/paths.ts';
import { temporaryFolder } from '../../../scripts/processes.ts';
import type { RayRelease } from '../../harness/needs/rayNeeds.ts';
import { type HeadSettings, RayHead } from './rayHead.ts';
import { cancelRuns, type RayRun, type RayRunOptions, runOnRay } from './rayRun.ts';
import { type Compared, TextTables } from './textTables.ts';

/** One Ray for all suites of a release, because starting a Ray takes longer than most tests. */
export class RayWorld {
  readonly tables = new TextTables();
  /** A folder on a disk of 8 megabytes. */
  readonly smallDisk: string;
  readonly #release: RayRelease;
  readonly #settings: HeadSettings;
  #head: RayHead;
  #jobs: RayJobs;
  /** The folder of the running test, with only its table. */
  #folder = '';
  readonly #mounted: string[] = [];

  private constructor(head: RayHead, settings: HeadSettings, smallDisk: string) {
    this.#release = head.release;
    this.#settings = settings;
    this.#head = head;
    this.#jobs = new RayJobs(head.target);
    this.smallDisk = smallDisk;
  }

  static async start(release: RayRelease, settings: HeadSettings = {}): Promise<RayWorld> {
    const smallDisk = join(temporaryFolder('rd-'), 'disk');
    mkdirSync(smallDisk);
    // Mount this before Ray starts, because its namespace contains only earlier mounts.
    mountMemory(smallDisk, '8m');
    // Detect hanging workers after 8 seconds instead of the default of a minute.
    const environment = { LANCE_CATALOG_STALL_SECONDS: '8', ...settings.environment };
    const all = { ...settings, environment };
    return new RayWorld(await RayHead.start(release, all), all, smallDisk);
  }

  get head(): RayHead {
    return this.#head;
  }

  get jobs(): RayJobs {
    return this.#jobs;
  }

  /**
   * Replaces this Ray with a new one at the same address after a failed test. A job that the test left behind could
   * hold the processors that the next tests need, so that all of them would fail, too.
   * @param title the test, whose name the folder with the logs of this Ray gets
   */
  async replace(title: string): Promise<void> {
    this.#head.saveLogs(inRoot('test-results/cluster', title.replaceAll(/\W+/g, '-')));
    cancelRuns();
    await this.#jobs.close();
    const port = Number(new URL(this.#head.address).port);
    await this.#head.stop();
    this.#head = await RayHead.start(this.#release, { ...this.#settings, port });
    this.#jobs = new RayJobs(this.#head.target);
  }

  async stop(): Promise<void> {
    await this.#jobs.close();
    await this.tables.stop();
    await this.#head.stop();
    for (const folder of [this.smallDisk, ...this.#mounted]) execFileSync('umount', ['--lazy', folder]);
  }

  /** Gives the next test a new folder. */
  renew(): void {
    this.#folder = temporaryFolder('rt-');
  }

  get folder(): string {
    return this.#folder;
  }

  /**
   * Creates a folder with a mount that Ray can't see, because Ray's namespace contains only mounts from before its
   * start. So the folder is empty for Ray.
   */
  unreachable(): string {
    const folder = join(this.#folder, 'elsewhere');
    mkdirSync(folder);
    mountMemory(folder, '64m');
    this.#mounted.push(folder);
    return folder;
  }

  /** The file in which the function of the test records its calls. */
  get calls(): string {
    return join(this.#folder, 'calls.txt');
  }

  get uri(): string {
    return join(this.#folder, 'texts.lance');
  }

  make(rows = 40_000, fragments = 8): Promise<void> {
    return this.tables.make({ uri: this.uri }, rows, fragments);
  }

  begin(options: Omit<RayRunOptions, 'ray' | 'uri'>): RayRun {
    return runOnRay({ ray: this.head.target, uri: this.uri, ...options });
  }

  compare(column = 'length'): Promise<Compared> {
    return this.tables.compare({ uri: this.uri }, column);
  }
}

/** Defines the hook that gives the test after a failed one, which may be its second try, a new Ray. */
export function replaceAfterFailure(ray: () => RayWorld): void {
  teardown(async function () {
    const test = this.currentTest;
    // A test that runs again has no state.
    if (test === undefined || test.state === 'passed' || test.isPending()) return;
    await ray().replace(test.fullTitle());
  });
}

/** Returns the expected result of `compare` for a table in which each row has the value that Arrow computes. */
export const allRight = (rows = 40_000, fragments = 8): Compared => ({ rows, nulls: 0, wrong: 0, fragments });

const mountMemory = (folder: string, size: string): void =>
  void execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${size}`, 'tmpfs', folder]);
