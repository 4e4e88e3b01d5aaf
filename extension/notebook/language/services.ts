import type { KernelCompletions } from './kernelKnowledge.ts';
import type { TypeScriptSilencer } from './mute.ts';
import type { LanguageNames } from './names.ts';
import type { LanguageNotebooks } from './notebooks.ts';
import type { OtherProviders } from './requests.ts';
import type { LanguageWorker } from './worker.ts';

export type CellLanguage = {
  notebooks: LanguageNotebooks;
  worker: LanguageWorker;
  mute: TypeScriptSilencer;
  kernels: KernelCompletions;
  names: LanguageNames;
  others: OtherProviders;
};
