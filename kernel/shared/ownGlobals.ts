/**
 * Globals that a kernel's bundles capture before any cell runs, because cells and test libraries may replace them. The
 * list omits `console`, because it belongs to the cells, and globals whose replacement should take effect, such as
 * `fetch`.
 */
export const ownGlobalNames: readonly string[] = `
  Promise process Buffer JSON Math Date Reflect Proxy Symbol Atomics SharedArrayBuffer
  Object Array Map Set WeakMap WeakSet WeakRef String Number BigInt RegExp Uint8Array Int32Array
  Error TypeError SyntaxError RangeError DOMException AbortController AbortSignal
  URL TextDecoder TextEncoder performance queueMicrotask structuredClone
  setTimeout clearTimeout setInterval clearInterval setImmediate clearImmediate`
  .trim()
  .split(/\s+/);

const valueOf = (name: string): unknown => Reflect.get(globalThis, name);
const own = ownGlobalNames.map((name) => ({ name, value: valueOf(name) }));

/**
 * Runs a call, such as loading a package, with the globals as they were when this module was loaded. Globals that a
 * cell has made non-configurable stay as they are.
 */
export function withOwnGlobals<T>(call: () => T): T {
  const replaced = own
    .filter(({ name, value }) => valueOf(name) !== value)
    .map((each) => ({ ...each, there: Object.getOwnPropertyDescriptor(globalThis, each.name) }));
  for (const { name, value } of replaced)
    Reflect.defineProperty(globalThis, name, { value, configurable: true, writable: true });
  try {
    return call();
  } finally {
    for (const { name, there } of replaced) {
      if (there) Reflect.defineProperty(globalThis, name, there);
      else Reflect.deleteProperty(globalThis, name);
    }
  }
}
