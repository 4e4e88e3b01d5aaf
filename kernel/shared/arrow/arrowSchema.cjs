/** Whether these are the same fields, each with a name of its own. */
const isSame = (fields, others) =>
  fields.length === others.length &&
  fields.every((field, index) => field === others[index]) &&
  new Set(fields.map(({ name }) => name)).size === fields.length;

/**
 * Every record batch assigns the fields of its schema to that schema, for which the library looks through all fields for
 * each of them: seconds for ten thousand columns, also where only the schema of a table is asked for.
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
