import ts from 'typescript-6';

/**
 * Gives the compiler what it would take from `globalThis.Buffer` whenever it writes a source map: a cell may replace that.
 */
export function keepGlobalsOfCompiler(): void {
  ts.sys.base64encode = (text) => Buffer.from(text, 'utf8').toString('base64');
  ts.sys.base64decode = (text) => Buffer.from(text, 'base64').toString('utf8');
}
