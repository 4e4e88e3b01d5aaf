import { findPlace } from '#engine/dir.ts';
import { inspectCatalog, repairCatalog } from '#engine/repair.ts';
import type { Damage } from '#shared/damage.ts';
import { UsageError, parse, type Command } from './command.ts';
import { storageArguments, storageHelp, storageOptions } from './storageOptions.ts';

const summary = `  lance-catalog repair CATALOG [--apply]
      find namespaces and tables that no list shows any more, and list them again`;

export const repairCommand: Command = {
  summary,
  help: `Finds and repairs damage in the list of namespaces and tables of a catalog

${summary}

  CATALOG              a directory, or the address of an object store; not a server: repair works on the storage itself
  --apply              repair what was found; without it, only show what a repair would do
  --json               print the result as JSON to stdout: {"found": […], "left": […]}
${storageHelp}

Finds
  - namespaces that are not listed although tables or namespaces are listed below them
  - tables and namespaces that have one name, so that one can hide the other
  - tables in namespaces whose files are there although no list shows them (only in a directory)
  - tables that are listed although their files are gone (only in a directory)

A repair deletes no files. It lists namespaces and tables again, renames tables whose name a namespace has, and removes
tables without files from the list. Each step is done whole or not at all: after an interrupt, run it again.
If a file of the catalog can't be read, nothing is changed: what can't be read is not missing.
Exit code 0 if the catalog has no damage (any more), 1 if it has, 2 for wrong arguments.`,
  run,
};

async function run(args: readonly string[]): Promise<number> {
  const { values, positionals } = parse(
    args,
    { apply: { type: 'boolean' }, json: { type: 'boolean' }, ...storageArguments },
    true,
  );
  const [catalog, ...more] = positionals;
  if (catalog === undefined || more.length > 0) throw new UsageError('"repair" needs one CATALOG.');
  if (/^https?:\/\//i.test(catalog)) {
    throw new UsageError(
      `Can't repair "${catalog}": repair works on the storage itself. Run it where the server's root is, and name that.`,
    );
  }
  const options = storageOptions(values);
  const place = await findPlace({ root: catalog, ...(options && { storageOptions: options }) });
  const { found, left } = values.apply ? await repairCatalog(place) : await inspectCatalog(place);
  if (values.json) console.log(JSON.stringify({ found, left }, undefined, 2));
  else console.log(report(place.location, found, left, values.apply ?? false));
  return left.length === 0 ? 0 : 1;
}

const many = (count: number): string => (count === 1 ? '1 problem' : `${count} problems`);

/** What was found and done, as text. */
function report(location: string, found: readonly Damage[], left: readonly Damage[], isApplied: boolean): string {
  if (found.length === 0) return `Catalog "${location}" has no damage.`;
  const lines = [`Catalog "${location}" has ${many(found.length)}:`, ''];
  for (const [at, { message, fix }] of found.entries()) {
    lines.push(`${String(at + 1).padStart(3)}. ${message}`);
    lines.push(`     ${fix === undefined ? 'Copy the table to another name, then drop it.' : `Fix: ${fix}`}`);
  }
  lines.push('');
  if (!isApplied) {
    const isFixable = found.some(({ fix }) => fix !== undefined);
    lines.push(isFixable ? 'Nothing was changed. Run it again with --apply to repair.' : 'Nothing was changed.');
  } else if (left.length === 0) lines.push(`Repaired ${many(found.length)}.`);
  else {
    lines.push(`Still to do:`, ...left.map(({ message }) => `  - ${message}`));
  }
  return lines.join('\n');
}
