import { inspect, types } from 'node:util';

/** What a traceback says of an error anyway. */
const said: ReadonlySet<PropertyKey> = new Set(['stack', 'message', 'name', 'cause', 'errors', 'requireStack']);
const maxProperties = 20;
const maxLines = 20;
const maxLineLength = 1000;

/**
 * Lines about what an error has besides its message, `{ code: 'ENOENT', errno: -2 }`, as Node shows it below the stack.
 * Errors of HTTP clients hold whole connections, so it is little of each and bounded in all. Runs no code of the error.
 */
export function propertiesOf(error: Error): string[] {
  if (types.isProxy(error)) return [];
  const shown: Record<PropertyKey, unknown> = {};
  const keys = Reflect.ownKeys(error).filter(
    (key) => !said.has(key) && Object.prototype.propertyIsEnumerable.call(error, key),
  );
  if (keys.length === 0) return [];
  for (const key of keys.slice(0, maxProperties)) {
    const property = Object.getOwnPropertyDescriptor(error, key);
    if (property) Object.defineProperty(shown, key, property);
  }
  const lines = textOf(shown).split('\n');
  const more = keys.length - maxProperties;
  return [
    ...lines
      .slice(0, maxLines)
      .map((line) => (line.length > maxLineLength ? `${line.slice(0, maxLineLength)}…` : line)),
    ...(lines.length > maxLines ? [`  … and ${lines.length - maxLines} more lines`] : []),
    ...(more > 0 ? [`… and ${more} more properties`] : []),
  ];
}

function textOf(shown: object): string {
  try {
    return inspect(shown, {
      colors: false,
      depth: 1,
      // A value that has a form of its own would run it.
      customInspect: false,
      maxArrayLength: 10,
      maxStringLength: 500,
    });
  } catch {
    return "{ properties that can't be shown }";
  }
}
