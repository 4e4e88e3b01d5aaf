import { readFileSync, writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { format, resolveConfig } from 'prettier';
import { jobFileHints } from '#shared/jobs/jobFileSchema.ts';
import { packageContributions } from '../extension/contributions/contributions.ts';
import { viewFileSchema } from '#shared/viewFile.ts';
import { jobSchemaFile } from '../extension/contributions/tasks.ts';
import { viewSchemaFile } from '../extension/contributions/viewFiles.ts';
import { commandLinePage } from './generate/commandLinePage.ts';
import { lanceDbVerbsPage } from './generate/lanceDbVerbsPage.ts';
import { settingsPage } from './generate/settingsPage.ts';
import { inRoot } from './paths.ts';

type Manifest = Record<string, unknown> & { capabilities: { untrustedWorkspaces: object } };

/**
 * `npm run generate`: generates parts of package.json, the schema of job files and the reference pages of docs/ from
 * TypeScript. With `--check`, the command changes nothing and fails if a file is stale.
 */
export async function main(args: readonly string[] = []): Promise<number> {
  const { values } = parseArgs({ args: [...args], options: { check: { type: 'boolean', default: false } } });
  const stale: string[] = [];
  for (const [file, text] of await generatedFiles()) {
    if (readIfThere(file) === text) continue;
    stale.push(file);
    if (!values.check) writeFileSync(inRoot(file), text);
  }
  for (const file of stale) console.error(values.check ? `${file} is stale: run npm run generate.` : `wrote ${file}`);
  return values.check && stale.length > 0 ? 1 : 0;
}

/** Returns path and formatted text of each generated file. */
async function generatedFiles(): Promise<[file: string, text: string][]> {
  const files: Readonly<Record<string, string>> = {
    'package.json': JSON.stringify(manifestWithContributions()),
    [jobSchemaFile]: JSON.stringify(jobFileHints),
    [viewSchemaFile]: JSON.stringify(viewFileSchema()),
    'docs/command-line.md': await commandLinePage(),
    'docs/lancedb-verbs.md': lanceDbVerbsPage(),
    'docs/settings.md': settingsPage(),
  };
  const generated: [string, string][] = [];
  for (const [file, text] of Object.entries(files)) generated.push([file, await formatted(file, text)]);
  return generated;
}

function manifestWithContributions(): Manifest {
  const { contributes, activationEvents, restrictedConfigurations } = packageContributions();
  const manifest = JSON.parse(readFileSync(inRoot('package.json'), 'utf8')) as Manifest;
  const { capabilities } = manifest;
  const untrustedWorkspaces = { ...capabilities.untrustedWorkspaces, restrictedConfigurations };
  return { ...manifest, capabilities: { ...capabilities, untrustedWorkspaces }, activationEvents, contributes };
}

async function formatted(file: string, text: string): Promise<string> {
  const filepath = inRoot(file);
  return format(text, { ...(await resolveConfig(filepath)), filepath });
}

function readIfThere(file: string): string | undefined {
  try {
    return readFileSync(inRoot(file), 'utf8');
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
    throw error;
  }
}
