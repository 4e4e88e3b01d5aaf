// Jupyter clients render terminal colors in tracebacks, and users look for the red error name and the green location.
// JupyterLab turns paths into links, but not `own.ts:2:7` without `./`. VS Code does not need `./`, because it links
// locations itself.

const escape = (code: number, text: string, end: number): string => `\u001b[${code}m${text}\u001b[${end}m`;
const red = (text: string): string => escape(31, text, 39);
/** Prefixes `./` to a file beside the notebook; cells (`[3]`), absolute paths and URLs stay unchanged. */
const placed = (place: string): string => escape(32, /^(?:[[/\\~.<]|\w+:\D)/.test(place) ? place : `./${place}`, 39);

/** `[3]:2:7 - error TS2322: Type …` */
const finding = /^(.+:\d+:\d+)( - )((?:error|warning|suggestion) TS\d+)(?=: )/;
/** `    at total ([3]:2:7)`, `    at async file.ts:1:2` */
const frame = /^(\s+at (?:.*\(|async )?)(\S.*:\d+:\d+)(?=\)?$)/;
const carets = /^(\s*)(\^+)$/;
/** `RangeError: …` of a cause, below the first line. */
const cause = /^((?:Caused by|  one of them:) )([\p{ID_Start}$][\p{ID_Continue}$]*)(?=: )/u;

/** Returns the lines of a traceback with colored locations and error names, and with paths that become links. */
export function colouredTraceback({ ename, traceback }: { ename: string; traceback: readonly string[] }): string[] {
  return traceback.map((line, index) => {
    if (index === 0 && line.startsWith(`${ename}: `)) return `${red(ename)}${line.slice(ename.length)}`;
    return line
      .replace(finding, (_, place: string, dash: string, code: string) => `${placed(place)}${dash}${red(code)}`)
      .replace(frame, (_, at: string, place: string) => `${at}${placed(place)}`)
      .replace(carets, (_, indent: string, marks: string) => `${indent}${red(marks)}`)
      .replace(cause, (_, words: string, name: string) => `${words}${red(name)}`);
  });
}
