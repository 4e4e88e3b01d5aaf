import { jobFileFields, type JobField, type JobFields } from './jobFile.ts';

type Schema = Readonly<Record<string, unknown>>;

/**
 * Allows any type, with `first` as the one that the editor inserts on completion. Without `true`, `false` and `null`,
 * which would be suggested for every field.
 */
const anyThing = (first: string): Schema => ({
  type: [first, ...['string', 'integer', 'number', 'object', 'array'].filter((one) => one !== first)],
});

/**
 * Suggests values without forbidding others: if two branches of `anyOf` match, the editor suggests the values of
 * both.
 */
const offered = (...branches: readonly Schema[]): Schema => ({ anyOf: [...branches, {}] });

function hintsOfFields(fields: JobFields): Schema {
  return { properties: Object.fromEntries(Object.entries(fields).map(([name, field]) => [name, hintsOf(field)])) };
}

function hintsOf(field: JobField): Schema {
  const { description } = field;
  const common = { description, markdownDescription: description };
  switch (field.kind) {
    case 'text':
    case 'tablePath':
      return { ...anyThing('string'), ...common };
    case 'choice':
      return {
        ...anyThing('string'),
        ...offered({ enum: field.values, enumDescriptions: field.meanings }),
        ...common,
      };
    case 'count':
      return { ...anyThing('integer'), ...common };
    case 'texts':
      return { ...anyThing('array'), ...common };
    case 'onError':
      return { ...anyThing('string'), ...offered({ enum: ['fail', 'null', 'skip', { retry: 3 }] }), ...common };
    case 'section':
      return { ...anyThing('object'), ...hintsOfFields(field.fields), ...common };
  }
}

/**
 * JSON Schema of a job file for completion and hovers in the editor. It allows everything: `readJobFile` underlines
 * errors with better messages, and each would be shown twice.
 */
export const jobFileHints: Schema = {
  $schema: 'http://json-schema.org/draft-07/schema#',
  title: 'Backfill of a Lance table',
  ...anyThing('object'),
  ...hintsOfFields(jobFileFields),
};

const text = { type: 'string', minLength: 1 } as const;
const count = { type: 'integer', minimum: 1 } as const;

const camelName = (name: string): string => name.replaceAll(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());

function schemaOfFields(fields: JobFields): Schema {
  const needed = Object.keys(fields).filter((name) => fields[name]?.isNeeded);
  const entries = Object.entries(fields).map(([name, field]) => [name, schemaOf(field)] as const);
  // Other spellings are valid too, but not suggested, or each field would be listed twice.
  const others = entries.flatMap(([name, schema]) =>
    name.includes('_') ? [[camelName(name), { ...schema, doNotSuggest: true }] as const] : [],
  );
  return {
    type: 'object',
    additionalProperties: false,
    ...(needed.length > 0 && { required: needed }),
    properties: Object.fromEntries([...entries, ...others]),
  };
}

function schemaOf(field: JobField): Schema {
  const { description } = field;
  const common = { description, markdownDescription: description };
  switch (field.kind) {
    case 'text': {
      const pattern = field.pattern && {
        pattern: field.pattern.source,
        patternErrorMessage: `Must be ${field.takes}.`,
      };
      return { ...text, ...pattern, ...common };
    }
    case 'choice':
      return { enum: field.values, enumDescriptions: field.meanings, ...common };
    case 'count':
      return { ...count, ...common };
    case 'texts':
      return { type: 'array', minItems: 1, items: text, ...common };
    case 'tablePath':
      return { anyOf: [text, { type: 'array', minItems: 1, items: text }], ...common };
    case 'onError': {
      const retry = { type: 'object', additionalProperties: false, required: ['retry'], properties: { retry: count } };
      return { anyOf: [{ enum: ['fail', 'null', 'skip'] }, retry], ...common };
    }
    case 'section':
      return { ...schemaOfFields(field.fields), ...common };
  }
}

/** JSON Schema of the fields in a task of tasks.json, which only the editor validates. Job files use `jobFileHints`. */
export const jobFileSchema: Schema = {
  $schema: 'http://json-schema.org/draft-07/schema#',
  title: 'Backfill of a Lance table',
  ...schemaOfFields(jobFileFields),
};
