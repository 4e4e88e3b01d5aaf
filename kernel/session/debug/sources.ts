import { readFile } from 'node:fs/promises';
import { pathToFileURL } from 'node:url';
import { messageOf } from '#shared/errors.ts';
import { DebugProblem } from './debugProblem.ts';
import type { DebugScripts } from './debugScripts.ts';

/**
 * The text of a cell as it was run, or of a file that is loaded.
 * @throws DebugProblem for any other path
 */
export async function readSource(path: string, scripts: DebugScripts): Promise<string> {
  const cell = scripts.textOf(path);
  if (cell !== undefined) return cell;
  const isLoaded = scripts.byPath(path).length > 0 || scripts.hasUrl(pathToFileURL(path).href);
  if (!isLoaded) throw new DebugProblem(`No script of this notebook comes from ${path}.`);
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    throw new DebugProblem(`${path} can't be read any more: ${messageOf(error)}`, { cause: error });
  }
}
