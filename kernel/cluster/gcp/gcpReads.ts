import type { HiddenTexts } from '#cluster/hiddenText.ts';
import { Once } from '#cluster/once.ts';
import type { ClusterProfile } from '#cluster/profile.ts';

/** What checks ask of gcp, each question once a run. */
export class GcpReads {
  readonly #once = new Once();
  readonly profile: ClusterProfile;
  readonly hidden: HiddenTexts;
  readonly signal: AbortSignal;

  /** @param signal the run's: an answer is shared, so that no single check may give it up */
  constructor(profile: ClusterProfile, hidden: HiddenTexts, signal: AbortSignal) {
    this.profile = profile;
    this.hidden = hidden;
    this.signal = signal;
  }

  protected once<T>(question: string, how: () => Promise<T>): Promise<T> {
    return this.#once.ask(question, how);
  }
}
