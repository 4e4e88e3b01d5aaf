import type { KernelCompletions } from './kernelCompletions.ts';
import type { TypeScriptSilencer } from './typeScriptSilencer.ts';
import type { LanguageNames } from './names.ts';
import type { LanguageNotebooks } from './notebooks.ts';
import type { OtherProviders } from './requests.ts';
import type { TableTypes } from './tableTypes.ts';
import type { LanguageWorker } from './worker.ts';

export type CellLanguage = {
  notebooks: LanguageNotebooks;
  worker: LanguageWorker;
  mute: TypeScriptSilencer;
  kernels: KernelCompletions;
  names: LanguageNames;
  types: TableTypes;
  others: OtherProviders;
};
