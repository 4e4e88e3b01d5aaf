import { type NotSupported, unsupportedValue } from './unsupported.ts';

// The exports of LanceDB's modules '@lancedb/lancedb/embedding', '…/openai' and '…/transformers', none of which this
// client has.

export const embeddingHint =
  'This client has no registry of embedding functions: compute the vectors and store them in a column, or fill a column with table.backfill().';

type Missing = NotSupported<typeof embeddingHint>;

/** Not supported. */
export const LanceSchema = unsupportedValue('LanceSchema', embeddingHint);
/** Not supported. */
export const getRegistry = unsupportedValue('getRegistry', embeddingHint);
/** Not supported. */
export const parseEmbeddingMetadata = unsupportedValue('parseEmbeddingMetadata', embeddingHint);
/** Not supported. */
export const register = unsupportedValue('register', embeddingHint);
/** Not supported. */
export type EmbeddingFunction<_Source = unknown, _Options = unknown> = Missing;
export const EmbeddingFunction = unsupportedValue('EmbeddingFunction', embeddingHint);
/** Not supported. */
export type EmbeddingFunctionRegistry = Missing;
export const EmbeddingFunctionRegistry = unsupportedValue('EmbeddingFunctionRegistry', embeddingHint);
/** Not supported. */
export type OpenAIEmbeddingFunction = Missing;
export const OpenAIEmbeddingFunction = unsupportedValue('OpenAIEmbeddingFunction', embeddingHint);
/** Not supported. */
export type TextEmbeddingFunction<_Options = unknown> = Missing;
export const TextEmbeddingFunction = unsupportedValue('TextEmbeddingFunction', embeddingHint);
/** Not supported. */
export type TransformersEmbeddingFunction = Missing;
export const TransformersEmbeddingFunction = unsupportedValue('TransformersEmbeddingFunction', embeddingHint);

export type CreateReturnType<_Function = unknown> = Missing;
export type EmbeddingFunctionConfig = Missing;
export type EmbeddingFunctionConstructor<_Function = unknown> = Missing;
export type EmbeddingFunctionCreate<_Function = unknown> = Missing;
export type EmbeddingMetadataEntry = Missing;
export type FieldOptions<_Type = unknown> = Missing;
export type FunctionOptions = Missing;
export type OpenAIOptions = Missing;
export type ResolvedEmbeddingFunctionConfig = Missing;
export type XenovaTransformerOptions = Missing;
