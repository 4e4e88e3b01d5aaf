/** Whether both lists hold the same fields, with unique names. */
const isSame = (fields, others) =>
  fields.length === others.length &&
  fields.every((field, index) => field === others[index]) &&
  new Set(fields.map(({ name }) => name)).size === fields.length;

/**
 * Speeds up `Schema.assign`. Every record batch assigns the fields of its schema to that schema, and the library
 * compares each field with all others. With ten thousand columns this takes seconds, even if only the schema of a table
 * is requested.
 */
exports.quickenSchema = ({ Schema }) => {
  const { assign } = Schema.prototype;
  if (Object.hasOwn(assign, 'isQuick')) return;
  const quick = function (...others) {
    const [fields] = others;
    if (!Array.isArray(fields) || !isSame(this.fields, fields)) return assign.apply(this, others);
    const copies = fields.map((field) => field.clone({ metadata: new Map(field.metadata) }));
    return new Schema(copies, new Map(this.metadata), new Map(this.dictionaries));
  };
  Schema.prototype.assign = Object.assign(quick, { isQuick: true });
};
