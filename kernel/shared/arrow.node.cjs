// Under Node the engine requires the CommonJS build of apache-arrow. A second build in the same process does not know
// the first one's tables and serialises them to garbage without an error, so everyone comes in through this door.
module.exports = require('apache-arrow');

const { Schema } = module.exports;
// oxlint-disable-next-line typescript/unbound-method -- applied to its schema below
const { assign } = Schema.prototype;

// Every record batch assigns the fields of its schema to that schema, for which the library looks through all fields for each
// of them: seconds for ten thousand columns, also where only the schema of a table is asked for.
Schema.prototype.assign = function (...others) {
  const [fields] = others;
  if (!Array.isArray(fields) || !isSame(this.fields, fields)) return assign.apply(this, others);
  const copies = fields.map((field) => field.clone({ metadata: new Map(field.metadata) }));
  return new Schema(copies, new Map(this.metadata), new Map(this.dictionaries));
};

/** Whether these are the same fields, each with a name of its own. */
const isSame = (fields, others) =>
  fields.length === others.length &&
  fields.every((field, index) => field === others[index]) &&
  new Set(fields.map(({ name }) => name)).size === fields.length;
