import type { CheckId } from '#cluster/checkIds.ts';
import type { FixPreview } from '#cluster/fixes/applyFix.ts';
import type { Fix } from '#cluster/fixes/fix.ts';
import type { KubeConnection } from '#cluster/kube/kubeConnection.ts';
import type { ClusterProfile } from '#cluster/profile.ts';
import { formatFix } from '#cluster/report/fixText.ts';
import { reportTable } from '#cluster/report/reportTable.ts';
import { exitCodes } from '#cluster/report/summary.ts';
import type { CheckReport } from '#cluster/result.ts';
import { SecretRedactor } from '#cluster/secretTexts.ts';
import { UsageError } from './command.ts';
import { askTerminal } from './terminal.ts';

type DiffLine = { readonly kind: 'same' | 'added' | 'removed'; readonly text: string };

/**
 * Returns the smallest difference, line by line. Only for manifests, because time and memory grow with the product of
 * the two numbers of lines.
 */
function lineDiff(before: string, after: string): readonly DiffLine[] {
  const [old, now] = [linesOf(before), linesOf(after)];
  // Cell (i, j): number of common lines of `old` from index i on and `now` from index j on.
  const common = Array.from({ length: old.length + 1 }, () => new Uint32Array(now.length + 1));
  const at = (i: number, j: number): number => common[i]?.[j] ?? 0;
  for (let i = old.length - 1; i >= 0; i--)
    for (let j = now.length - 1; j >= 0; j--)
      (common[i] as Uint32Array)[j] = old[i] === now[j] ? at(i + 1, j + 1) + 1 : Math.max(at(i + 1, j), at(i, j + 1));
  const lines: DiffLine[] = [];
  let [i, j] = [0, 0];
  while (i < old.length || j < now.length) {
    const [was, is] = [old[i], now[j]];
    if (was !== undefined && was === is) {
      lines.push({ kind: 'same', text: was });
      i++;
      j++;
    } else if (was !== undefined && (is === undefined || at(i + 1, j) >= at(i, j + 1))) {
      lines.push({ kind: 'removed', text: was });
      i++;
    } else if (is !== undefined) {
      lines.push({ kind: 'added', text: is });
      j++;
    }
  }
  return lines;
}

/** Formats the difference: only lines near a change, each after `+`, `-` or a space. */
function diffText(before: string, after: string, around = 3): string {
  const lines = lineDiff(before, after);
  const isNear = (index: number): boolean =>
    lines.slice(Math.max(0, index - around), index + around + 1).some(({ kind }) => kind !== 'same');
  const marks = { same: ' ', added: '+', removed: '-' } as const;
  const shown: string[] = [];
  let left = false;
  for (const [index, { kind, text }] of lines.entries()) {
    const near = isNear(index);
    if (near) shown.push(`${marks[kind]} ${text}`);
    else if (!left) shown.push('  …');
    left = !near;
  }
  return shown.join('\n');
}

const linesOf = (text: string): readonly string[] => (text === '' ? [] : text.replace(/\n$/, '').split('\n'));

type FixOptions = {
  readonly profile: ClusterProfile;
  readonly id: CheckId;
  /** Returns the command line that prints the fix of a check of the same cluster. */
  readonly fixCommand: (id: CheckId) => string;
  readonly ask: Ask;
  readonly signal: AbortSignal;
  readonly apply?: boolean | undefined;
  readonly yes?: boolean | undefined;
  readonly force?: boolean | undefined;
};

/**
 * `--mend ID`: runs the check, and applies its fix or prints it. The fix, or a preview of its changes, goes to stdout,
 * everything else to stderr.
 * @returns the exit code
 * @throws ClusterError, UsageError
 */
export async function runFixCommand(options: FixOptions): Promise<number> {
  const { id, ask, apply = false } = options;
  const report = await ask([id]);
  const result = report.results.find((each) => each.id === id);
  if (!result || result.status === 'skipped' || result.status === 'blocked') {
    process.stderr.write(reportTable(report, { short: true, fixCommand: options.fixCommand }));
    if (result) console.error(`There is no fix for ${id}. ${result.sentence}`);
    return result?.status === 'blocked' ? exitCodes.failed : exitCodes.notRun;
  }
  console.error(`${id}: ${result.sentence}`);
  if (result.status === 'pass') return exitCodes.passed;
  if (result.mend === undefined) {
    console.error('No fix is known.');
    return exitCodes.failed;
  }
  return apply ? applyObjects(result.mend, options) : print(result.mend, options);
}

function print(fix: Fix, { id, fixCommand }: FixOptions): number {
  const { command, document, advice } = formatFix(fix);
  console.log((document?.text ?? command ?? advice ?? '').trimEnd());
  if (document !== undefined && command !== undefined) console.error(`\nTo apply it:\n${command}`);
  if (fix.kind === 'objects') console.error(`\nOr, to preview and then apply it: ${fixCommand(id)} --apply`);
  return exitCodes.passed;
}

async function applyObjects(fix: Fix, options: FixOptions): Promise<number> {
  const { profile, id, ask, signal, yes = false, force = false } = options;
  if (fix.kind !== 'objects')
    throw new UsageError(`The fix for ${id} is not a manifest. Leave out --apply to see it, and apply it by hand.`);
  const { applyFix, connectKube, previewFix } = await import('#cluster/entry.ts');
  const connection: KubeConnection = await connectKube(profile.auth, { hidden: new SecretRedactor(), signal });
  try {
    const preview = await previewFix(connection, fix.objects, signal);
    console.log(previewText(preview));
    const conflicts = preview.objects.flatMap(({ conflict }) => conflict ?? []);
    if (conflicts.length > 0 && !force) {
      console.error(
        `${conflicts.join('\n')}\nNothing was applied. Change the objects at their source, or add --force.`,
      );
      return exitCodes.failed;
    }
    if (!yes && !(await confirm(`Apply this to ${connection.server}?`, signal))) {
      console.error('Nothing was applied.');
      return exitCodes.failed;
    }
    for (const name of await applyFix(connection, preview, { signal, force })) console.error(`Applied: ${name}`);
  } finally {
    await connection.close();
  }
  const after = await ask([id]);
  const now = after.results.find((each) => each.id === id);
  if (now) console.error(`${id}: ${now.sentence}`);
  return now?.status === 'pass' ? exitCodes.passed : exitCodes.failed;
}

/** Formats the changes of each object as lines with `+` and `-`. */
function previewText({ objects }: FixPreview): string {
  return objects
    .map(({ name, before, after, changed, unchecked }) => {
      const note = unchecked === undefined ? '' : ` (${unchecked})`;
      if (!changed) return `${name}: no change`;
      return `${name}: ${before === '' ? 'new' : 'changes'}${note}\n${diffText(before, after)}`;
    })
    .join('\n\n');
}

/** @throws UsageError if stdin is not a terminal */
async function confirm(question: string, signal: AbortSignal): Promise<boolean> {
  if (!process.stdin.isTTY)
    throw new UsageError("--apply prompts before it changes anything, but stdin isn't a terminal. Add --yes.");
  return askTerminal(question, signal);
}

/** Runs checks of a profile, with progress on stderr. */
export type Ask = (only: readonly CheckId[] | undefined) => Promise<CheckReport>;
