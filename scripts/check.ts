import { spawnSync } from 'node:child_process';
import { inRoot } from './paths.ts';

/** The checks of the lint layer: scripts of the project or of its packages, with their arguments. */
export const checks = [
  { name: 'types', script: 'node_modules/typescript/bin/tsc', args: ['-b'] },
  { name: 'rules', script: 'node_modules/oxlint/bin/oxlint', args: ['--type-aware'] },
  { name: 'format', script: 'node_modules/prettier/bin/prettier.cjs', args: ['--check', '--log-level=warn', '.'] },
  { name: 'words', script: 'scripts/boot.mjs', args: ['words'] },
  { name: 'generated files', script: 'scripts/boot.mjs', args: ['generate', '--check'] },
] as const;

/**
 * `npm run check`: checks types, lint rules including the layers, format, odd words and generated files. Returns the
 * exit code.
 */
export function main(): number {
  const failed = checks.filter(({ name, script, args }) => {
    const { status } = spawnSync(process.execPath, [inRoot(script), ...args], {
      cwd: inRoot(),
      stdio: 'inherit',
    });
    if (status !== 0) console.error(`check of ${name} failed`);
    return status !== 0;
  });
  return failed.length === 0 ? 0 : 1;
}
