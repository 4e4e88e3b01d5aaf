import { spawnSync } from 'node:child_process';
import { inRoot } from './paths.ts';

/** The three checks of the lint layer, with the arguments of their tools. */
export const checks = [
  { name: 'types', tool: 'typescript/bin/tsc', args: ['-b'] },
  { name: 'rules', tool: 'oxlint/bin/oxlint', args: ['--type-aware'] },
  { name: 'format', tool: 'prettier/bin/prettier.cjs', args: ['--check', '--log-level=warn', '.'] },
] as const;

/** `npm run check`: types, lint rules with the layer rules, and format. Returns the exit code. */
export function main(): number {
  const failed = checks.filter(({ name, tool, args }) => {
    const { status } = spawnSync(process.execPath, [inRoot('node_modules', tool), ...args], {
      cwd: inRoot(),
      stdio: 'inherit',
    });
    if (status !== 0) console.error(`check of ${name} failed`);
    return status !== 0;
  });
  return failed.length === 0 ? 0 : 1;
}
