import { profileFields } from './profileFields.ts';
import type { Field, Fields } from './settingFields.ts';

type Schema = Readonly<Record<string, unknown>>;

const snakeCase = (key: string): string => key.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

/** What the editor completes and underlines by, made of the table that the reader goes by. */
function schemaOfFields(fields: Fields): Schema {
  const names = Object.keys(fields);
  const spelled = names.map(snakeCase).filter((name) => !names.includes(name));
  return {
    type: 'object',
    additionalProperties: false,
    properties: {
      ...Object.fromEntries(names.map((name) => [name, schemaOf(fields[name] as Field)])),
      // The names that Python has for the same; taken, and not offered.
      ...Object.fromEntries(spelled.map((name) => [name, { doNotSuggest: true }])),
    },
  };
}

function schemaOf(field: Field): Schema {
  const { default: standard } = field;
  const common = {
    markdownDescription: field.description,
    ...(standard === undefined ? {} : { default: standard }),
  };
  switch (field.kind) {
    case 'text': {
      const takes = `It takes ${field.takes}.`;
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
