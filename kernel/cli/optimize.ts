import { type Age, ageSeconds, type OptimizeResult } from '#catalog/table/optimize.ts';
import { isAbort } from '#shared/errors.ts';
import { countText, sizeText } from '#shared/format/numbers.ts';
import { pluralize } from '#shared/format/markup.ts';
import { displayPath } from '#shared/names.ts';
import { catalogArguments, catalogOf, oneCatalogHelp, pathOf } from './catalogArguments.ts';
import { type Command, parse, UsageError } from './command.ts';
import { stopBySignals } from './signals.ts';
import { terminalText, withCliHints } from './terminal.ts';

const summary = `  lance-catalog optimize TABLE [--older-than AGE]
      join the small fragments of a table, so that reading it is faster, and complete its indexes`;

export const optimizeCommand: Command = {
  summary,
  help: `Makes a table that was written in many small parts faster to read

${summary}

  TABLE                shop/eu/orders; as JSON, ["shop","a/b"], if a name contains a slash
  --older-than AGE     also remove the versions older than AGE, such as 7d or 12h (units: s, m, h, d, w), and the files
                       that only they use; the oldest tagged version and all later versions stay
                       (default: remove nothing)
  --json               print the result as JSON to stdout
${oneCatalogHelp}

Joined fragments and updated indexes are written as new versions. Without --older-than earlier versions stay as they are, so
the table needs more space until they are removed. Removed versions can no longer be read or restored, and readers
that have one of them open get an error. Clients may read and write the table meanwhile. The command does not run while a
backfill computes a column of the table.
Exit code 0 if the table is optimized, 1 if it is not, 2 for wrong arguments, 130 after Ctrl-C.`,
  run,
};

async function run(args: readonly string[]): Promise<number> {
  const { values, positionals } = parse(
    args,
    { ...catalogArguments, 'older-than': { type: 'string' }, json: { type: 'boolean' } },
    true,
  );
  const [path, ...more] = positionals;
  const name = path === undefined ? undefined : pathOf(path).at(-1);
  if (path === undefined || name === undefined || more.length > 0) throw new UsageError('"optimize" needs one TABLE.');
  const namespacePath = pathOf(path).slice(0, -1);
  const olderThan = ageOf(values['older-than']);
  const catalog = catalogOf(values);
  const stop = stopBySignals();
  const { signal } = stop;
  try {
    const { withCatalog } = await import('#jobs/entry.ts');
    const result = await withCliHints({ catalog, namespacePath }, signal, () =>
      withCatalog(catalog, signal, async (opened) => {
        const table = await opened.openTable(name, { namespacePath, signal });
        return table.optimize({ olderThan, signal });
      }),
    );
    console.log(
      values.json ? JSON.stringify(result) : terminalText(resultText(displayPath(namespacePath, name), result)),
    );
    return 0;
  } catch (error) {
    if (!signal.aborted || !isAbort(error)) throw error;
    console.error('Stopped. The table is unchanged, or has one more version with the same rows.');
    return stop.code ?? 1;
  } finally {
    stop.dispose();
  }
}

function ageOf(text: string | undefined): Age | undefined {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- it was just parsed as an age
  if (text === undefined || ageSeconds(text) !== undefined) return text as Age | undefined;
  throw new UsageError(`Expected an age such as 7d or 12h for --older-than, got "${text}".`);
}

function resultText(table: string, result: OptimizeResult): string {
  const { numFragmentsBefore, numFragmentsAfter, totalBytesBefore, totalBytesAfter } = result;
  const fragments = `${countText(numFragmentsBefore)} to ${pluralize(numFragmentsAfter, 'fragment')}`;
  const lines = [
    `${table}: ${fragments}, ${sizeText(totalBytesBefore)} to ${sizeText(totalBytesAfter)}, version ${result.version}`,
  ];
  const { numVersionsRemoved, bytesRemoved, numOlderVersionsKept } = result;
  if (numVersionsRemoved > 0)
    lines.push(`Removed ${pluralize(numVersionsRemoved, 'version')} and ${sizeText(bytesRemoved)} of files.`);
  if (numOlderVersionsKept > 0)
    lines.push(`${pluralize(numOlderVersionsKept, 'older version')} stayed because of a tag or a branch.`);
  return lines.join('\n');
}
