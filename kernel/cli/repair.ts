import { findPlace } from '#engine/dir/dirCatalog.ts';
import { inspectCatalog, repairCatalog } from '#engine/repair/repair.ts';
import type { Damage, RepairResult } from '#shared/damage.ts';
import { UsageError, parse, type Command } from './command.ts';
import { storageArguments, storageHelp, storageOptions } from './catalogArguments.ts';
import { terminalText } from './terminal.ts';

const summary = `  lance-catalog repair CATALOG [--apply]
      find damage in a catalog's list of namespaces and tables, and repair it with --apply`;

export const repairCommand: Command = {
  summary,
  help: `Finds and repairs damage in the list of namespaces and tables of a catalog

${summary}

  CATALOG              a directory or an object store URL; not a server, since repair works on the storage itself
  --apply              repair what was found; without it, only show what a repair would do
  --json               print the result as JSON to stdout: {"found": […], "left": […], "recent": N}
${storageHelp}

Finds
  - namespaces that are not listed although tables or namespaces below them are
  - tables and namespaces with the same name, so that one can hide the other
  - tables in namespaces that are not listed although their files exist (only in a directory)
  - tables that are listed although their files or versions are missing (only in a directory)

A repair deletes no files. It lists namespaces and tables again, renames tables that have the name of a namespace, and
removes tables without files from the list. Each step is done completely or not at all: after an interrupt, run it
again. If a file of the catalog can't be read, nothing changes: an unreadable file is not a missing file. Folders
less than a minute old are skipped, because their table may not be complete yet; "recent" counts them.
Exit code 0 if the catalog has no damage or was repaired, 1 if damage or recent folders remain, 2 for wrong arguments.`,
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
      `Can't repair "${catalog}": repair works on the storage itself. Run it with the root of the server as CATALOG.`,
    );
  }
  const options = storageOptions(values);
  const place = await findPlace({ root: catalog, ...(options && { storageOptions: options }) });
  const result = values.apply ? await repairCatalog(place) : await inspectCatalog(place);
  if (values.json) console.log(JSON.stringify(result, undefined, 2));
  else console.log(terminalText(report(place.location, result, values.apply ?? false)));
  return result.left.length === 0 && result.recent === 0 ? 0 : 1;
}

const many = (count: number): string => (count === 1 ? '1 problem' : `${count} problems`);

function report(location: string, { found, left, recent }: RepairResult, isApplied: boolean): string {
  const lines: string[] = [];
  if (found.length > 0) {
    lines.push(`Catalog "${location}" has ${many(found.length)}:`, '');
    for (const [at, { message, fix, isRepairable }] of found.entries()) {
      lines.push(`${String(at + 1).padStart(3)}. ${message}`, `     ${isRepairable ? 'Fix' : 'By hand'}: ${fix}`);
    }
    lines.push('', conclusion(found, left, isApplied));
  } else if (recent === 0) lines.push(`Catalog "${location}" has no damage.`);
  if (recent > 0) {
    const folders = recent === 1 ? '1 folder of a table is' : `${recent} folders of tables are`;
    lines.push(`${folders} not listed and less than a minute old: run it again in a minute.`);
  }
  return lines.join('\n');
}

function conclusion(found: readonly Damage[], left: readonly Damage[], isApplied: boolean): string {
  if (isApplied && left.length === 0) return `Repaired ${many(found.length)}.`;
  if (isApplied) return ['Still to do:', ...left.map(({ message }) => `  - ${message}`)].join('\n');
  const isRepairable = found.some((damage) => damage.isRepairable);
  return isRepairable ? 'Nothing was changed. Run it again with --apply to repair.' : 'Nothing was changed.';
}
