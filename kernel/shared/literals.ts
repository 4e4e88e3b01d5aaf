/** Writes a string as a literal of TypeScript. JSON leaves two line separators as they are. */
export const stringLiteral = (text: string): string =>
  JSON.stringify(text).replaceAll('\u2028', '\\u2028').replaceAll('\u2029', '\\u2029');

/** Writes the name of a property: in quotes, unless it is an identifier. */
export const propertyName = (name: string): string =>
  /^[A-Za-z_$][\w$]*$/.test(name) && name !== '__proto__' ? name : stringLiteral(name);
