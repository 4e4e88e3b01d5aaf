import type { KernelKnowledge } from './kernelKnowledge.ts';
import type { LanguageMute } from './mute.ts';
import type { LanguageNames } from './names.ts';
import type { LanguageNotebooks } from './notebooks.ts';
import type { Others } from './requests.ts';
import type { LanguageWorker } from './worker.ts';

export type CellLanguage = {
  notebooks: LanguageNotebooks;
  worker: LanguageWorker;
  mute: LanguageMute;
  kernels: KernelKnowledge;
  names: LanguageNames;
  others: Others;
};
