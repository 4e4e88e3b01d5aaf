import { Once } from './once.ts';
import type { HiddenTexts } from './hiddenText.ts';
import type { ClusterProfile } from './profile.ts';

/** What checks ask of the catalog, each question once a run. */
export class CatalogReads {
  readonly #once = new Once();
  readonly profile: ClusterProfile;
  readonly hidden: HiddenTexts;
  readonly signal: AbortSignal;

  constructor(profile: ClusterProfile, hidden: HiddenTexts, signal: AbortSignal) {
    this.profile = profile;
    this.hidden = hidden;
    this.signal = signal;
  }

  protected once<T>(question: string, how: () => Promise<T>): Promise<T> {
    return this.#once.ask(question, how);
  }
}
