import { type Field, type Fields, toJsonSchema } from '#shared/fieldTable.ts';
import { jobFileFields } from './jobFile.ts';

type Schema = Readonly<Record<string, unknown>>;

/**
 * Allows values of any type except `true`, `false` and `null`, because the editor would suggest these for every field.
 * The editor inserts a value of the type `first` on completion.
 */
const anyThing = (first: string): Schema => ({
  type: [first, ...['string', 'integer', 'number', 'object', 'array'].filter((one) => one !== first)],
});

/**
 * Suggests values without forbidding others: if two branches of `anyOf` match, the editor suggests the values of
 * both.
 */
const offered = (...branches: readonly Schema[]): Schema => ({ anyOf: [...branches, {}] });

function hintsOfFields(fields: Fields): Schema {
  return { properties: Object.fromEntries(Object.entries(fields).map(([name, field]) => [name, hintsOf(field)])) };
}

const firstTypes: { readonly [K in Field['kind']]: string } = {
  text: 'string',
  choice: 'string',
  flag: 'boolean',
  count: 'integer',
  texts: 'array',
  map: 'object',
  section: 'object',
  sections: 'array',
  other: 'string',
};

function hintsOf(field: Field): Schema {
  const { description } = field;
  return {
    ...anyThing(firstTypes[field.kind]),
    ...(field.kind === 'choice' && offered({ enum: field.values, enumDescriptions: field.meanings })),
    ...(field.kind === 'other' && field.examples && offered({ enum: field.examples })),
    ...(field.kind === 'section' && hintsOfFields(field.fields)),
    description,
    markdownDescription: description,
  };
}

/**
 * JSON Schema of a job file for completion and hovers in the editor. The schema allows everything, because
 * `readJobFile` reports errors with better messages, and otherwise each error would be shown twice.
 */
export const jobFileHints: Schema = {
  $schema: 'http://json-schema.org/draft-07/schema#',
  title: 'Backfill of a Lance table',
  ...anyThing('object'),
  ...hintsOfFields(jobFileFields),
};

const camelName = (name: string): string => name.replaceAll(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());

/**
 * JSON Schema of the fields in a task of tasks.json. The editor validates a task with this schema only, so it is
 * strict. Job files use `jobFileHints`.
 */
export const jobFileSchema: Schema = {
  $schema: 'http://json-schema.org/draft-07/schema#',
  title: 'Backfill of a Lance table',
  ...toJsonSchema(jobFileFields, (name) => (name.includes('_') ? [camelName(name)] : [])),
};
