import { spawnSync } from 'node:child_process';
import { copyFileSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, posix } from 'node:path';
import { inRoot } from './paths.ts';

/** Folders of kernel/ whose declaration files a notebook's TypeScript may read. */
const layers = ['shared', 'processes', 'catalog', 'engine', 'cluster', 'session'] as const;
const entry = 'session/preload.d.ts';
/** The declaration file that VS Code's TypeScript reads while the language worker is not available. */
const globalsEntry = 'notebook.d.ts';
const specifier = /(\bfrom\s*|\bimport\s*\(\s*|\bimport\s+)(['"])([^'"]+)\2/g;

/**
 * Creates `dist/types`: the declarations for checking notebook cells (entry `session/preload.d.ts`).
 * Imports such as `#shared/x.ts` resolve only in this package, so each becomes a relative `.js` import.
 * @returns tsc's report if the sources have type errors (declarations are still written), else undefined
 */
export function buildTypes(): string | undefined {
  const compiler = inRoot('node_modules/typescript/bin/tsc');
  const run = spawnSync(process.execPath, [compiler, '-b', inRoot('kernel/session')], { encoding: 'utf8' });
  if (run.error)
    throw new Error(`Can't run the TypeScript compiler ${compiler}: run npm install.`, { cause: run.error });
  rmSync(inRoot('dist/types'), { recursive: true, force: true });
  mkdirSync(inRoot('dist/types'), { recursive: true });
  // tslab is bundled into the kernel, so `import { display } from 'tslab'` in a cell needs only this declaration file.
  copyFileSync(inRoot('node_modules/tslab/dist/public.d.ts'), inRoot('dist/types/tslab.d.ts'));
  const seen = new Set<string>();
  const queue: string[] = [entry];
  for (let file = queue.pop(); file !== undefined; file = queue.pop()) {
    if (seen.has(file)) continue;
    seen.add(file);
    const source = inRoot('out', file);
    if (!existsSync(source)) continue;
    const target = inRoot('dist/types', file);
    mkdirSync(dirname(target), { recursive: true });
    writeFileSync(
      target,
      rewrite(file, readFileSync(source, 'utf8'), (needed) => queue.push(needed)),
    );
  }
  writeFileSync(
    inRoot('dist/types', globalsEntry),
    globals(readFileSync(inRoot('kernel/session/compile/prelude.ts'), 'utf8')),
  );
  return run.status === 0 ? undefined : `${run.stdout}${run.stderr}`.trim();
}

/**
 * Declares a notebook's globals for VS Code's own TypeScript, which treats a cell as an ordinary file.
 * @param text the imports and declarations that precede every cell
 */
function globals(text: string): string {
  const from = 'import("./session/preload.js")';
  const imported = [...text.matchAll(/^import \{([^}]*)\} from "lance-catalog";$/gm)].flatMap(([, names = '']) =>
    names.split(',').map((name) => `declare const ${name.trim()}: typeof ${from}.${name.trim()};`),
  );
  const declared = text.split('\n').filter((line) => line.startsWith('declare '));
  return `${[...imported, ...declared].join('\n').replaceAll('import("lance-catalog")', from)}\n`;
}

/** Rewrites the imports of one declaration file, and reports the project files that it imports. */
function rewrite(file: string, text: string, need: (file: string) => void): string {
  return text
    .replace(/^\/\/# sourceMappingURL=.*$/gm, '')
    .replace(specifier, (_, head: string, quote: string, name: string) => {
      const inside = projectFile(file, name);
      if (inside === undefined) return `${head}${quote}${name === '#arrow' ? 'apache-arrow' : name}${quote}`;
      need(`${inside}.d.ts`);
      const relative = posix.relative(posix.dirname(file), inside);
      return `${head}${quote}${relative.startsWith('.') ? relative : `./${relative}`}.js${quote}`;
    });
}

/** Returns `#catalog/a.ts` or `./a.ts` as a path below out/ without extension; undefined for a package. */
function projectFile(from: string, name: string): string | undefined {
  const layer = layers.find((candidate) => name.startsWith(`#${candidate}/`));
  const path = layer ? name.slice(1) : name.startsWith('.') ? posix.join(posix.dirname(from), name) : undefined;
  return path?.replace(/\.(?:d\.ts|tsx?|js)$/, '');
}

export const typesEntry = join('dist', 'types', entry);
