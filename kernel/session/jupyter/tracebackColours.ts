// Jupyter's fronts draw the colours of a terminal in tracebacks, and people find their way in one by them: the red name of
// the error, the green place. JupyterLab makes links of what looks like a path, which `own.ts:2:7` does not. The editor needs
// neither, since it makes links of the places itself.

const escape = (code: number, text: string, end: number): string => `\u001b[${code}m${text}\u001b[${end}m`;
const red = (text: string): string => escape(31, text, 39);
/** A file beside the notebook is said to be beside it; cells (`[3]`), paths from a root and addresses stay as they are. */
const placed = (place: string): string => escape(32, /^(?:[[/\\~.<]|\w+:\D)/.test(place) ? place : `./${place}`, 39);

/** `[3]:2:7 - error TS2322: Type …` */
const finding = /^(.+:\d+:\d+)( - )((?:error|warning|suggestion) TS\d+)(?=: )/;
/** `    at total ([3]:2:7)`, `    at async file.ts:1:2` */
const frame = /^(\s+at (?:.*\(|async )?)(\S.*:\d+:\d+)(?=\)?$)/;
const carets = /^(\s*)(\^+)$/;
/** `RangeError: …` of the first line, and of what caused it. */
const cause = /^((?:Caused by|  one of them:) )([\p{ID_Start}$][\p{ID_Continue}$]*)(?=: )/u;

/** The lines of a traceback with the places and the names of errors in colours, and paths that can be followed. */
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
