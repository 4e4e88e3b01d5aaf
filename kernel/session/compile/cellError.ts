import { sep } from 'node:path';
import { inspect, types } from 'node:util';
import { isClusterError } from '#cluster/errors.ts';
import { cellCountOf } from '#session/run/scriptNames.ts';
import type { CellError } from '#session/threads/coreMessages.ts';
import { isCatalogError } from '#shared/errors.ts';
import { isJobError } from '#shared/jobs/jobErrors.ts';
import { variablePrefix } from './generatedNames.ts';

/** What a traceback says of an error anyway. */
const said: ReadonlySet<PropertyKey> = new Set(['stack', 'message', 'name', 'cause', 'errors', 'requireStack']);
const maxProperties = 20;
const maxLines = 20;
const maxLineLength = 1000;

/**
 * Lines about what an error has besides its message, `{ code: 'ENOENT', errno: -2 }`, as Node shows it below the stack.
 * Errors of HTTP clients hold whole connections, so it is little of each and bounded in all. Runs no code of the error.
 */
function propertiesOf(error: Error): string[] {
  if (types.isProxy(error)) return [];
  const shown: Record<PropertyKey, unknown> = {};
  const keys = Reflect.ownKeys(error).filter(
    (key) => !said.has(key) && Object.prototype.propertyIsEnumerable.call(error, key),
  );
  if (keys.length === 0) return [];
  for (const key of keys.slice(0, maxProperties)) {
    const property = Object.getOwnPropertyDescriptor(error, key);
    if (property) Object.defineProperty(shown, key, property);
  }
  const lines = textOf(shown).split('\n');
  const more = keys.length - maxProperties;
  return [
    ...lines
      .slice(0, maxLines)
      .map((line) => (line.length > maxLineLength ? `${line.slice(0, maxLineLength)}…` : line)),
    ...(lines.length > maxLines ? [`  … and ${lines.length - maxLines} more lines`] : []),
    ...(more > 0 ? [`… and ${more} more properties`] : []),
  ];
}

function textOf(shown: object): string {
  try {
    return inspect(shown, {
      colors: false,
      depth: 1,
      // A value that has a form of its own would run it.
      customInspect: false,
      maxArrayLength: 10,
      maxStringLength: 500,
    });
  } catch {
    return "{ properties that can't be shown }";
  }
}

/** Frames of the kernel and of Node, which say nothing about the cell. */
const innerFrame = /(?:kernel\w*\.cjs|node:|evalmachine|tslab[\\/]dist)/;
/** Of what else lies beside the kernel and is loaded when it is needed. */
const ownFolder = import.meta.dirname + sep;
/** A place in a cell. */
const cellFrame = /\[\d+\]:\d/;
/** A function of the language itself, which runs what others give it: `Array.map (<anonymous>)`. */
const builtInFrame = /^\s+at [^()]+ \(<anonymous>\)$/;
/** Of code that waits for what is above it, and did not call it. */
const asyncFrame = /^\s+at async /;
/** How Node puts the place of a mistake in a script before the stack of a SyntaxError, which has no frame of it. */
const mistakePlace = /^(\S.*):(\d+)\n.*\n( *)\^/;
const maxCauses = 5;
const maxFrames = 20;
/** What a cause's own lines say beyond its sentence. */
const maxCauseFrames = 3;

/** Translates the positions of a stack trace to what the person wrote. */
type Translate = (stack: string) => string;

/** Characters of a message from its beginning, and from its end, where the next step is. */
const headChars = 9000;
const tailChars = 1000;

/** How Node names a variable of the notebook in the message of an error. */
const variableName = `\\${variablePrefix}([\\p{ID_Continue}$]+)\\.v`;
const generatedNames = new RegExp(`\\(0 ?, ?${variableName}\\)|${variableName}(?![\\p{ID_Continue}$])`, 'gu');

/**
 * What code threw, as Jupyter's three fields. The traceback has the frames of the person's own code, and the causes.
 * @param place where a cell waited for what failed, for an error that knows no cell it comes from
 */
export function describeError(thrown: unknown, translate: Translate, place?: string): CellError {
  try {
    return describe(thrown, translate, place);
  } catch (error) {
    // A message or a stack that throws when it is read, or a proxy that throws at everything.
    const evalue = `[an error that can't be shown: ${plainSentence(error)}]. If all cells fail so, restart the kernel.`;
    return { ename: 'Error', evalue, traceback: [evalue] };
  }
}

function describe(thrown: unknown, translate: Translate, place: string | undefined): CellError {
  if (!isErrorLike(thrown)) {
    const evalue = typeof thrown === 'string' ? bounded(thrown) : safeInspect(thrown);
    return { ename: 'Error', evalue, traceback: [`Uncaught ${evalue}`] };
  }
  const ename = nameOf(thrown);
  const evalue = plain(thrown.message);
  const frames = framesOf(thrown, translate, maxFrames);
  if (place !== undefined && !frames.some((frame) => cellFrame.test(frame))) frames.push(`    at ${place}`);
  return {
    ename,
    evalue,
    traceback: [`${ename}: ${evalue}`, ...frames, ...detailsOf(thrown), ...causesOf(thrown, translate)],
  };
}

function framesOf(thrown: Error, translate: Translate, max: number): string[] {
  const stack = withoutLongMessage(thrown);
  const lines = translate(placeOfMistake(thrown, stack) + stack).split('\n');
  const frames = lines.filter((line) => /^\s+at /.test(line)).reduceRight<string[]>(withFrame, []);
  return frames.length > max ? [...frames.slice(0, max), `    … and ${frames.length - max} more`] : frames;
}

/** Puts a frame before those below it that are shown. A built-in function that no code of theirs called says nothing. */
function withFrame(below: string[], frame: string, index: number, all: readonly string[]): string[] {
  const caller = all[index + 1] ?? '';
  const isCalled = below[0] === plain(caller) && !asyncFrame.test(caller);
  const isInner = innerFrame.test(frame) || frame.includes(ownFolder) || (builtInFrame.test(frame) && !isCalled);
  return isInner ? below : [plain(frame), ...below];
}

/** Of a script that is no code, such as a broken package, the place where it stops being any. */
function placeOfMistake({ name }: Error, stack: string): string {
  const [, script, line, blanks] = (name === 'SyntaxError' && mistakePlace.exec(stack)) || [];
  if (script === undefined || blanks === undefined || cellCountOf(script) !== undefined) return '';
  return `    at ${script}:${line}:${blanks.length + 1}\n`;
}

// The sentence of a catalog's error says it all; what it holds and what is below are the engine's own words, with paths
// of the machine that built it. Those of a job and of a cluster hold the parts of their sentence.
const detailsOf = (thrown: Error): string[] =>
  isCatalogError(thrown) || isJobError(thrown) || isClusterError(thrown) ? [] : propertiesOf(thrown).map(plain);

function causesOf(thrown: Error, translate: Translate): string[] {
  if (isCatalogError(thrown)) return [];
  const lines: string[] = [];
  let at: unknown = thrown;
  for (let depth = 0; depth < maxCauses && isErrorLike(at); depth++) {
    const { errors } = at as { errors?: unknown };
    if (Array.isArray(errors)) {
      for (const each of errors.slice(0, maxCauses)) lines.push(`  one of them: ${sentence(each)}`);
      if (errors.length > maxCauses) lines.push(`  … and ${errors.length - maxCauses} more`);
    }
    at = at.cause;
    if (at === undefined) break;
    lines.push(`Caused by ${sentence(at)}`);
    if (isErrorLike(at)) lines.push(...framesOf(at, translate, maxCauseFrames), ...detailsOf(at));
  }
  return lines;
}

/** The stack holds the message, which may be the body of an answer over HTTP. */
function withoutLongMessage({ stack, message }: Error): string {
  const text = String(stack);
  return message.length > headChars + tailChars ? text.replace(message, () => '') : text;
}

/** What is shown and saved of a text of any length. */
function bounded(text: string): string {
  const left = text.length - headChars - tailChars;
  if (left <= 0) return text;
  // Half a character is none that a front could read.
  const head = text.slice(0, headChars).replace(/[\uD800-\uDBFF]$/, '');
  const tail = text.slice(-tailChars).replace(/^[\uDC00-\uDFFF]/, '');
  return `${head}… ${left.toLocaleString('en-US')} more characters …${tail}`;
}

/** A message without the names of generated code: the person wrote `f()`, and Node says `(0 , $cell_f.v)`. */
const plain = (text: string): string =>
  bounded(text).replace(generatedNames, (_, called?: string, read?: string) => called ?? read ?? '');

// Code can put anything in place of a name.
const nameOf = ({ name }: { name: unknown }): string => (typeof name === 'string' && name ? name : 'Error');
const sentence = (value: unknown): string =>
  isErrorLike(value) ? `${nameOf(value)}: ${plain(value.message)}` : safeInspect(value);

// An Error of another realm, from `node:vm` for instance, is not an instance of ours.
const isErrorLike = (value: unknown): value is Error =>
  typeof value === 'object' &&
  value !== null &&
  'stack' in value &&
  'message' in value &&
  typeof value.message === 'string';

function plainSentence(error: unknown): string {
  try {
    return String(error);
  } catch {
    return 'it throws when it is read';
  }
}

/** `util.inspect` without colours, and without trusting the value's own `inspect` not to throw. */
function safeInspect(value: unknown): string {
  try {
    return inspect(value, { colors: false, depth: 4, maxArrayLength: 100, maxStringLength: 10_000 });
  } catch (error) {
    return `[a value that can't be shown: ${error instanceof Error ? error.message : 'its inspect threw'}]`;
  }
}
