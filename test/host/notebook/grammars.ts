import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import * as vscode from 'vscode';

// Tokenizes a text with VS Code's own tokenizer and grammars, because no API returns the scopes.

type Contribution = { scopeName: string; path: string; injectTo?: string[] };
type Stack = object | null;
type Grammar = {
  tokenizeLine(
    line: string,
    stack: Stack,
  ): { tokens: { startIndex: number; endIndex: number; scopes: string[] }[]; ruleStack: Stack };
};
type Tokeniser = {
  Registry: new (options: object) => { loadGrammar(scope: string): Promise<Grammar | null> };
  parseRawGrammar(text: string, file: string): object;
};
type Oniguruma = {
  loadWASM(data: ArrayBuffer): Promise<void>;
  OnigScanner: new (sources: string[]) => object;
  OnigString: new (text: string) => object;
};

/** A part of a line and its scopes, innermost last, without the scope of the whole file. */
export type Token = readonly [text: string, scopes: string];

/** Returns the tokens of TypeScript code, line by line. */
export type Colouring = (text: string) => Token[][];

const required = createRequire(import.meta.url);
const module = (name: string): string => join(vscode.env.appRoot, 'node_modules', name);

/** Returns the grammars of all extensions by scope. */
function contributions(): Map<string, Contribution> {
  const all = vscode.extensions.all.flatMap(({ extensionPath, packageJSON }) => {
    const { contributes } = packageJSON as { contributes?: { grammars?: Contribution[] } };
    return (contributes?.grammars ?? []).map((each) => ({ ...each, path: join(extensionPath, each.path) }));
  });
  return new Map(all.map((each) => [each.scopeName, each]));
}

/** Returns a tokenizer for TypeScript, with the grammars of these extensions injected. */
export async function typescriptColouring(isIn: (scopeName: string) => boolean): Promise<Colouring> {
  const tokeniser = required(module('vscode-textmate')) as Tokeniser;
  const oniguruma = required(module('vscode-oniguruma')) as Oniguruma;
  const wasm = readFileSync(join(module('vscode-oniguruma'), 'release/onig.wasm'));
  await oniguruma.loadWASM(new Uint8Array(wasm).buffer);
  const known = contributions();
  const registry = new tokeniser.Registry({
    onigLib: Promise.resolve({
      createOnigScanner: (sources: string[]) => new oniguruma.OnigScanner(sources),
      createOnigString: (text: string) => new oniguruma.OnigString(text),
    }),
    loadGrammar: (scope: string) => {
      const path = known.get(scope)?.path;
      return Promise.resolve(path === undefined ? null : tokeniser.parseRawGrammar(readFileSync(path, 'utf8'), path));
    },
    getInjections: (scope: string) =>
      [...known.values()]
        .filter(({ scopeName, injectTo }) => injectTo?.includes(scope) && isIn(scopeName))
        .map(({ scopeName }) => scopeName),
  });
  const grammar = await registry.loadGrammar('source.ts');
  if (!grammar) throw new Error('The editor has no grammar of TypeScript.');
  return (text) => {
    let stack: Stack = null;
    return text.split('\n').map((line) => {
      const { tokens, ruleStack } = grammar.tokenizeLine(line, stack);
      stack = ruleStack;
      return tokens.map(({ startIndex, endIndex, scopes }) => [
        line.slice(startIndex, endIndex),
        scopes.slice(1).join(' '),
      ]);
    });
  };
}
