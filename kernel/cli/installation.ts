import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { NodeRuntime } from '#processes/childProcess.ts';
import { isFitNode, minimumNode } from '#processes/nodeVersion.ts';
import { CatalogError } from '#shared/errors.ts';

// The commands are one bundle, so this is the folder of the bundles, not of the source.
const distFolder = import.meta.dirname;

/** The folder that holds package.json and dist/. */
export const installation = dirname(distFolder);

export const kernelEntry = join(distFolder, 'kernel.cjs');

/**
 * Returns the Node of this process, for starting other processes.
 * @throws CatalogError ServiceUnavailable (17) if it is too old
 */
export function thisNode(): NodeRuntime {
  const { node } = process.versions;
  if (isFitNode(node)) return { path: process.execPath, env: {}, version: node };
  const wanted = minimumNode.join('.');
  throw new CatalogError('ServiceUnavailable', `Node ${node} is not supported.`, `Use Node ${wanted} or newer.`);
}

export function version(): string {
  const { version: found } = JSON.parse(readFileSync(join(installation, 'package.json'), 'utf8')) as {
    version: string;
  };
  return found;
}
