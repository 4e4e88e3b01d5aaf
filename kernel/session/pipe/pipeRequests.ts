import { isCatalogConfig } from '#shared/catalogConfig.ts';
import { isDebugRequest } from '#shared/debugMessages.ts';
import { isCellPlace, typeCheckModes, type KeepKernel, type KernelRequest } from '#shared/kernelMessages.ts';
import { notebookLanguages } from '#shared/notebookLanguage.ts';
import { isRecord } from '#shared/records.ts';

// What an editor sends is checked here, before anything looks into it.

type Content = Record<string, unknown>;

const isBoolean = (value: unknown): boolean => typeof value === 'boolean';
const hasCode = (content: Content): boolean => typeof content['code'] === 'string';
const hasCursor = (content: Content): boolean => hasCode(content) && Number.isSafeInteger(content['cursorPos']);

const isKeep = (value: unknown): value is KeepKernel =>
  isRecord(value) &&
  typeof value['folder'] === 'string' &&
  typeof value['seconds'] === 'number' &&
  value['seconds'] >= 0 &&
  Number.isSafeInteger(value['editor']);

const isOptional = (value: unknown, check: (value: unknown) => boolean): boolean => value === undefined || check(value);

const contentChecks: Record<KernelRequest['type'], (content: Content) => boolean> = {
  start: ({ catalog, typeCheck, language, keep }) =>
    (catalog === null || isCatalogConfig(catalog)) &&
    isOptional(typeCheck, (mode) => typeCheckModes.some((each) => each === mode)) &&
    isOptional(language, (name) => notebookLanguages.some((each) => each === name)) &&
    isOptional(keep, isKeep),
  attach: ({ secret }) => typeof secret === 'string',
  execute_request: (content) =>
    hasCode(content) &&
    ['silent', 'storeHistory', 'allowStdin'].every((name) => isOptional(content[name], isBoolean)) &&
    isOptional(content['cell'], isCellPlace),
  complete_request: hasCursor,
  inspect_request: hasCursor,
  is_complete_request: hasCode,
  interrupt_request: () => true,
  variables_request: () => true,
  debug_request: isDebugRequest,
  input_reply: ({ value }) => value === null || typeof value === 'string',
  shutdown_request: () => true,
};

/** The id of what should be a request; without one there is nobody to answer. */
export const idOf = (message: unknown): string | undefined =>
  isRecord(message) && typeof message['id'] === 'string' ? message['id'] : undefined;

/** Whether a message has the shape of a request, its contents included. */
export function isRequest(message: unknown): message is KernelRequest {
  if (!isRecord(message) || idOf(message) === undefined || !isRecord(message['content'])) return false;
  const type = String(message['type']);
  return Object.hasOwn(contentChecks, type) && contentChecks[type as KernelRequest['type']](message['content']);
}
