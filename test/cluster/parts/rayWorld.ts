import { execFileSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { RayJobs } from '#cluster/ray/rayJobs.ts';
import { temporaryFolder } from '../../../scripts/processes.ts';
import type { RayRelease } from '../../harness/needs/rayNeeds.ts';
import { type HeadSettings, RayHead } from './rayHead.ts';
import { type RayRun, type RayRunOptions, runOnRay } from './rayRun.ts';
import { type Compared, TextTables } from './textTables.ts';

/** One Ray for all suites about a release of it: to start one takes longer than most tests do. */
export class RayWorld {
  readonly head: RayHead;
  readonly jobs: RayJobs;
  readonly tables = new TextTables();
  /** A folder on a disk of a few megabytes. */
  readonly smallDisk: string;
  /** That of the running test, with nothing in it but its table. */
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
    // Before Ray, whose namespace sees what was mounted by then.
    mountMemory(smallDisk, '8m');
    // A worker that stands still is found sooner than after the minute that people are given.
    const environment = { LANCE_CATALOG_STALL_SECONDS: '8', ...settings.environment };
    return new RayWorld(await RayHead.start(release, { ...settings, environment }), smallDisk);
  }

  async stop(): Promise<void> {
    await this.jobs.close();
    await this.tables.stop();
    await this.head.stop();
    for (const folder of [this.smallDisk, ...this.#mounted]) execFileSync('umount', ['--lazy', folder]);
  }

  /** Gives the next test a folder of its own. */
  renew(): void {
    this.#folder = temporaryFolder('rt-');
  }

  get folder(): string {
    return this.#folder;
  }

  /** Makes a folder that is there for this machine and empty for Ray, whose namespace does not see what is mounted later. */
  unreachable(): string {
    const folder = join(this.#folder, 'elsewhere');
    mkdirSync(folder);
    mountMemory(folder, '64m');
    this.#mounted.push(folder);
    return folder;
  }

  /** Where the function of the test notes what it was called for. */
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

/** What a table of so many rows is when all of them are as Arrow computes them. */
export const allRight = (rows = 40_000, fragments = 8): Compared => ({ rows, nulls: 0, wrong: 0, fragments });

const mountMemory = (folder: string, size: string): void =>
  void execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${size}`, 'tmpfs', folder]);
