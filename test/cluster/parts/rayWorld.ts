import { execFileSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { RayJobs } from '#cluster/ray/rayJobs.ts';
import { temporaryFolder } from '../../../scripts/processes.ts';
import type { RayRelease } from '../../harness/needs/rayNeeds.ts';
import { type HeadSettings, RayHead } from './rayHead.ts';
import { type RayRun, type RayRunOptions, runOnRay } from './rayRun.ts';
import { type Compared, TextTables } from './textTables.ts';

/** One Ray for all suites of a release, because starting a Ray takes longer than most tests. */
export class RayWorld {
  readonly head: RayHead;
  readonly jobs: RayJobs;
  readonly tables = new TextTables();
  /** A folder on a disk of 8 megabytes. */
  readonly smallDisk: string;
  /** The folder of the running test, with only its table. */
  #folder = '';
  readonly #mounted: string[] = [];

  private constructor(head: RayHead, smallDisk: string) {
    this.head = head;
    this.jobs = new RayJobs(head.target);
    this.smallDisk = smallDisk;
  }

  static async start(release: RayRelease, settings: HeadSettings = {}): Promise<RayWorld> {
    const smallDisk = join(temporaryFolder('rd-'), 'disk');
    mkdirSync(smallDisk);
    // Mount this before Ray starts, because its namespace contains only earlier mounts.
    mountMemory(smallDisk, '8m');
    // Detect hanging workers after 8 seconds instead of the default of a minute.
    const environment = { LANCE_CATALOG_STALL_SECONDS: '8', ...settings.environment };
    return new RayWorld(await RayHead.start(release, { ...settings, environment }), smallDisk);
  }

  async stop(): Promise<void> {
    await this.jobs.close();
    await this.tables.stop();
    await this.head.stop();
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

/** Returns the expected result of `compare` for a table in which each row has the value that Arrow computes. */
export const allRight = (rows = 40_000, fragments = 8): Compared => ({ rows, nulls: 0, wrong: 0, fragments });

const mountMemory = (folder: string, size: string): void =>
  void execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${size}`, 'tmpfs', folder]);
