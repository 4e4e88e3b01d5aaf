import { jobFileFields, type JobField, type JobFields } from './jobFileFields.ts';

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
