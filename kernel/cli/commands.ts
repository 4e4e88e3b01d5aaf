import type { Command } from './command.ts';

/**
 * The commands in the order of the help. Each command is loaded only when it is used, so that it does not wait for the
 * code of the others.
 */
export const commands: Readonly<Record<string, () => Promise<Command>>> = {
  list: async () => (await import('./list.ts')).listCommand,
  copy: async () => (await import('./copy.ts')).copyCommand,
  serve: async () => (await import('./serve.ts')).serveCommand,
  sql: async () => (await import('./sql.ts')).sqlCommand,
  export: async () => (await import('./export.ts')).exportCommand,
  diff: async () => (await import('./diff.ts')).diffCommand,
  optimize: async () => (await import('./optimize.ts')).optimizeCommand,
  repair: async () => (await import('./repair.ts')).repairCommand,
  kernel: async () => (await import('./kernel.ts')).kernelCommand,
  run: async () => (await import('./run.ts')).runCommand,
  check: async () => (await import('./check.ts')).checkCommand,
  backfill: async () => (await import('./backfill.ts')).backfillCommand,
  jobs: async () => (await import('./jobs.ts')).jobsCommand,
  python: async () => (await import('./python.ts')).pythonCommand,
};

/** What `lance-catalog --help` prints. */
export async function help(): Promise<string> {
  const all = await Promise.all(Object.values(commands).map((load) => load()));
  return `lance-catalog: tools for Lance catalogs and TypeScript notebooks

${all.map(({ summary }) => summary).join('\n')}

  lance-catalog COMMAND --help   show the help for a command
  --help, --version`;
}
