import { readFileSync, writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { format, resolveConfig } from 'prettier';
import { jobFileHints } from '#shared/jobs/jobFileSchema.ts';
import { packageContributions } from '../extension/contributions/contributions.ts';
import { jobSchemaFile } from '../extension/contributions/tasks.ts';
import { inRoot } from './paths.ts';

type Manifest = Record<string, unknown> & { capabilities: { untrustedWorkspaces: object } };

/**
 * `npm run contributions`: writes what extension/contributions says into package.json and the schema of job files.
 * With `--check` it changes nothing and fails if a file is stale.
 */
export async function main(args: readonly string[] = []): Promise<number> {
  const { values } = parseArgs({ args: [...args], options: { check: { type: 'boolean', default: false } } });
  const stale: string[] = [];
  for (const [file, text] of await generatedFiles()) {
    if (readFileSync(inRoot(file), 'utf8') === text) continue;
    stale.push(file);
    if (!values.check) writeFileSync(inRoot(file), text);
  }
  for (const file of stale)
    console.error(values.check ? `${file} is stale: run npm run contributions.` : `${file} was written.`);
  return values.check && stale.length > 0 ? 1 : 0;
}

/** The generated files by their paths, formatted as the formatter wants them. */
async function generatedFiles(): Promise<[file: string, text: string][]> {
  const { contributes, activationEvents, restrictedConfigurations } = packageContributions();
  const manifest = JSON.parse(readFileSync(inRoot('package.json'), 'utf8')) as Manifest;
  const { capabilities } = manifest;
  const untrustedWorkspaces = { ...capabilities.untrustedWorkspaces, restrictedConfigurations };
  const merged = {
    ...manifest,
    capabilities: { ...capabilities, untrustedWorkspaces },
    activationEvents,
    contributes,
  };
  return [
    ['package.json', await formatted('package.json', merged)],
    [jobSchemaFile, await formatted(jobSchemaFile, jobFileHints)],
  ];
}

async function formatted(file: string, value: unknown): Promise<string> {
  const filepath = inRoot(file);
  return format(JSON.stringify(value, undefined, 2), { ...(await resolveConfig(filepath)), filepath });
}
