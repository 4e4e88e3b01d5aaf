import { jobFileFields, type JobField, type JobFields } from './jobFile.ts';

type Schema = Readonly<Record<string, unknown>>;

/**
 * What people write, with the type in front that the editor completes a name with. Not `true`, `false` and `null`, since they
 * would be offered for every field.
 */
const anyThing = (first: string): Schema => ({
  type: [first, ...['string', 'integer', 'number', 'object', 'array'].filter((one) => one !== first)],
});

/** What may be chosen from, beside everything else: of two branches that both hold, the editor offers what is in each. */
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
 * JSON Schema of a job file for completion and hovers in the editor. It forbids nothing: what is wrong is underlined by
 * `readJobFile`, whose sentences say more, and would be there twice.
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
  // Checked alike, and not offered: each field would be there twice.
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

/** JSON Schema of a job file as a task has its fields: nobody else reads tasks.json. Of files of their own `jobFileHints` is. */
export const jobFileSchema: Schema = {
  $schema: 'http://json-schema.org/draft-07/schema#',
  title: 'Backfill of a Lance table',
  ...schemaOfFields(jobFileFields),
};
