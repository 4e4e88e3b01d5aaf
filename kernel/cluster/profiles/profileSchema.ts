import { profileFields } from './profileFields.ts';
import type { Field, Fields } from './settingFields.ts';
import { otherSpellings } from './settingNames.ts';

type Schema = Readonly<Record<string, unknown>>;

/** Generates the schema for completion and validation in the editor from the reader's table. */
function schemaOfFields(fields: Fields): Schema {
  const entries = Object.entries(fields).map(([name, field]) => [name, schemaOf(field)] as const);
  // Other spellings are valid too, but not suggested, or each setting would be listed twice.
  const others = entries.flatMap(([name, schema]) =>
    otherSpellings(name).map((other) => [other, { ...schema, doNotSuggest: true }] as const),
  );
  return { type: 'object', additionalProperties: false, properties: Object.fromEntries([...entries, ...others]) };
}

function schemaOf(field: Field): Schema {
  const { default: standard } = field;
  const common = {
    markdownDescription: field.description,
    ...(standard === undefined ? {} : { default: standard }),
  };
  switch (field.kind) {
    case 'text': {
      const takes = `Must be ${field.takes}.`;
      return { type: 'string', pattern: field.pattern.source, patternErrorMessage: takes, ...common };
    }
    case 'choice':
      return { enum: field.values, enumDescriptions: field.meanings, ...common };
    case 'flag':
      return { type: 'boolean', ...common };
    case 'count':
      return { type: 'integer', minimum: 0, ...common };
    case 'quantity':
      return { type: ['number', 'string'], exclusiveMinimum: 0, ...common };
    case 'map':
      return { type: 'object', additionalProperties: { type: 'string' }, ...common };
    case 'section':
      return { ...schemaOfFields(field.fields), ...common };
    case 'sections':
      return { type: 'array', items: schemaOfFields(field.fields), ...common };
    case 'other':
      return { ...field.schema, ...common };
  }
}

/** JSON schema of one profile, a value of `lanceCatalog.cluster.profiles`. */
export const profileSchema: Schema = schemaOfFields(profileFields);
