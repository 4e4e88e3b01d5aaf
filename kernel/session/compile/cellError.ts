import { sep } from 'node:path';
import { inspect, types } from 'node:util';
import { isClusterError } from '#cluster/errors.ts';
import { cellCountOf } from '#session/run/scriptNames.ts';
import type { CellError } from '#session/threads/coreMessages.ts';
import { isCatalogError } from '#shared/errors.ts';
import { isJobError } from '#shared/jobs/jobErrors.ts';
import { variablePrefix } from './generatedNames.ts';

/** Properties that the other parts of a traceback already show. */
const said: ReadonlySet<PropertyKey> = new Set(['stack', 'message', 'name', 'cause', 'errors', 'requireStack']);
const maxProperties = 20;
const maxLines = 20;
const maxLineLength = 1000;

/**
 * Returns lines about an error's other properties, `{ code: 'ENOENT', errno: -2 }`, as Node.js shows them below the
 * stack. The result is bounded, because an error of an HTTP client may hold a whole connection. No code of the error is
 * run.
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
      // A custom inspect function would run code of the value.
      customInspect: false,
      maxArrayLength: 10,
      maxStringLength: 500,
    });
  } catch {
    return "{ properties that can't be shown }";
  }
}

/** Frames of the kernel and of Node.js. They say nothing about the cell. */
const innerFrame = /(?:kernel\w*\.cjs|node:|evalmachine|tslab[\\/]dist)/;
/** The folder of the kernel's bundles that are loaded lazily. */
const ownFolder = import.meta.dirname + sep;
/** A position in a cell. */
const cellFrame = /\[\d+\]:\d/;
/** A builtin function that calls functions passed to it: `Array.map (<anonymous>)`. */
const builtInFrame = /^\s+at [^()]+ \(<anonymous>\)$/;
/** A frame of code that awaits the frame above, but did not call it. */
const asyncFrame = /^\s+at async /;
/**
 * The position of an error in a script, which Node.js puts before the stack of a SyntaxError instead of into a frame.
 */
const mistakePlace = /^(\S.*):(\d+)\n.*\n( *)\^/;
const maxCauses = 5;
const maxFrames = 20;
/** Maximum frames of a cause. */
const maxCauseFrames = 3;

/** Translates the positions of a stack trace to positions in the user's code. */
type Translate = (stack: string) => string;

/**
 * Characters shown of a long message, from its start and from its end. The end is shown, because a message ends with
 * the next step.
 */
const headChars = 9000;
const tailChars = 1000;

/** Name of a notebook variable in the messages of Node.js. */
const variableName = `\\${variablePrefix}([\\p{ID_Continue}$]+)\\.v`;
const generatedNames = new RegExp(`\\(0 ?, ?${variableName}\\)|${variableName}(?![\\p{ID_Continue}$])`, 'gu');

/**
 * Describes a thrown value by the three fields of Jupyter. The traceback has the frames of the user's code, and the
 * causes of the error.
 * @param place where a cell awaited the failure, for an error without a frame in a cell
 */
export function describeError(thrown: unknown, translate: Translate, place?: string): CellError {
  try {
    return describe(thrown, translate, place);
  } catch (error) {
    // The description fails if reading the message or the stack throws, or if the value is a proxy that always throws.
    const evalue = `[an error that can't be shown: ${plainSentence(error)}]. If all cells fail like this, restart the kernel.`;
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

/**
 * Prepends a frame to the shown frames below it. A frame of a builtin function is shown only if the frame that called
 * it is shown.
 */
function withFrame(below: string[], frame: string, index: number, all: readonly string[]): string[] {
  const caller = all[index + 1] ?? '';
  const isCalled = below[0] === plain(caller) && !asyncFrame.test(caller);
  const isInner = innerFrame.test(frame) || frame.includes(ownFolder) || (builtInFrame.test(frame) && !isCalled);
  return isInner ? below : [plain(frame), ...below];
}

/**
 * Returns a frame for a syntax error in a file, such as a file of a broken package; an empty string for other errors.
 */
function placeOfMistake({ name }: Error, stack: string): string {
  const [, script, line, blanks] = (name === 'SyntaxError' && mistakePlace.exec(stack)) || [];
  if (script === undefined || blanks === undefined || cellCountOf(script) !== undefined) return '';
  return `    at ${script}:${line}:${blanks.length + 1}\n`;
}

// Returns the details of an error, and none for the product's own errors. The message of a catalog error is complete,
// and its causes contain paths of the machine that built the engine. The properties of job and cluster errors only
// repeat parts of the message.
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

/**
 * Returns the stack of an error, without the message if the message is very long, for instance the body of an HTTP
 * response.
 */
function withoutLongMessage({ stack, message }: Error): string {
  const text = String(stack);
  return message.length > headChars + tailChars ? text.replace(message, () => '') : text;
}

/** Shortens a string for display and storage. */
function bounded(text: string): string {
  const left = text.length - headChars - tailChars;
  if (left <= 0) return text;
  // If a cut leaves half of a surrogate pair, this half is removed, because clients can't decode it.
  const head = text.slice(0, headChars).replace(/[\uD800-\uDBFF]$/, '');
  const tail = text.slice(-tailChars).replace(/^[\uDC00-\uDFFF]/, '');
  return `${head}… ${left.toLocaleString('en-US')} more characters …${tail}`;
}

/** Removes the names of generated code from a message: for the user's `f()`, Node.js writes `(0 , $cell_f.v)`. */
const plain = (text: string): string =>
  bounded(text).replace(generatedNames, (_, called?: string, read?: string) => called ?? read ?? '');

// A name that is not a string is ignored, because code can assign any value to `name`.
const nameOf = ({ name }: { name: unknown }): string => (typeof name === 'string' && name ? name : 'Error');
const sentence = (value: unknown): string =>
  isErrorLike(value) ? `${nameOf(value)}: ${plain(value.message)}` : safeInspect(value);

// An Error of another realm, from `node:vm` for instance, is not an instance of this realm's class.
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

/** `util.inspect` without colors, safe against a custom `inspect` that throws. */
function safeInspect(value: unknown): string {
  try {
    return inspect(value, { colors: false, depth: 4, maxArrayLength: 100, maxStringLength: 10_000 });
  } catch (error) {
    return `[a value that can't be shown: ${error instanceof Error ? error.message : 'its inspect threw'}]`;
  }
}
