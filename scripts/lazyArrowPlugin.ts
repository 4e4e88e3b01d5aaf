import type { Plugin } from 'esbuild';
import * as arrow from '#arrow';
import { inRoot, root } from './paths.ts';

// Makes bundles load apache-arrow on first use, because loading it takes as long as compiling the first cell of a
// notebook, and most notebooks don't need it. The enums of apache-arrow are part of the bundle as plain numbers, so
// code that uses only enums does not load apache-arrow.

const shared = (file: string): string => JSON.stringify(inRoot('kernel/shared', file));
/** The file that registers codecs after Arrow is loaded, because Arrow's reader has no codecs by itself. */
const codecs = JSON.stringify(inRoot('kernel/catalog/arrow/ipcCompression.ts'));

const namespace = 'late-arrow';

/** Returns whether a value is an enum object, which maps names to numbers and back. */
const isEnum = (value: unknown): boolean =>
  Object.prototype.toString.call(value) === '[object Object]' &&
  Object.values(value as object).length > 0 &&
  Object.values(value as object).every((each) => typeof each === 'number' || typeof each === 'string');

const exported = Object.entries(arrow).filter(([name]) => !['default', '__esModule', 'module.exports'].includes(name));
const enums = exported.filter(([, value]) => isEnum(value));
const late = exported.filter(([, value]) => !isEnum(value)).map(([name]) => name);

/**
 * The module that all files of a bundle import. Each export is read from an object at every use, so that the library
 * can be loaded late.
 */
const passedOn = [
  `export { ${late.join(', ')} } from '${namespace}';`,
  ...enums.map(([name, value]) => `export const ${name} = ${JSON.stringify(value)};`),
];

/**
 * Getters that load the library and then become plain properties. Cells may have replaced globals, so the library loads
 * with the original globals. An interrupt waits until the library is loaded. If loading fails, the getters stay.
 */
const loading = `
const { withOwnGlobals } = require(${shared('ownGlobals.ts')});
const { requireLazy } = require(${shared('loadLazy.ts')});
const { quickenSchema } = require(${shared('arrow/arrowSchema.cjs')});
let arrow;
const load = () => arrow ?? requireLazy(whole);
function whole() {
  const loaded = withOwnGlobals(() => require('apache-arrow'));
  quickenSchema(loaded);
  for (const name of Object.keys(exports)) Object.defineProperty(exports, name, { value: loaded[name], enumerable: true });
  require(${codecs}).registerCodecs();
  return (arrow = loaded);
}
Object.defineProperties(exports, {
${late.map((name) => `  ${name}: { get: () => load().${name}, enumerable: true, configurable: true },`).join('\n')}
});`;

/** Makes `#arrow` in a bundle load apache-arrow on first use of an export. */
export const lazyArrowPlugin: Plugin = {
  name: namespace,
  setup(build) {
    build.onResolve({ filter: /^#arrow$/ }, ({ kind }) =>
      kind === 'import-statement' ? { path: 'passed-on', namespace } : undefined,
    );
    build.onResolve({ filter: /^late-arrow$/ }, () => ({ path: 'loading', namespace }));
    build.onLoad({ filter: /^passed-on$/, namespace }, () => ({ contents: passedOn.join('\n'), resolveDir: root }));
    build.onLoad({ filter: /^loading$/, namespace }, () => ({ contents: loading, resolveDir: root }));
  },
};
