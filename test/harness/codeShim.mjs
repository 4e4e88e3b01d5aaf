#!/usr/bin/env node
// Stands in for the `code` executable of desktop VS Code: accepts the arguments of @vscode/test-electron and runs them
// in the browser workbench, so that both have the same suite and runner.
import { spawn } from 'node:child_process';
import { join } from 'node:path';

const given = process.argv.slice(2);
const all = (name) => given.filter((arg) => arg.startsWith(`--${name}=`)).map((arg) => arg.slice(name.length + 3));
const folder = given.find((arg) => !arg.startsWith('-'));

const child = spawn(
  process.execPath,
  [
    join(import.meta.dirname, 'hostInWorkbench.ts'),
    `--tests=${all('extensionTestsPath')[0]}`,
    ...all('extensionDevelopmentPath').map((path) => `--extension=${path}`),
    ...(folder === undefined ? [] : [`--folder=${folder}`]),
  ],
  { stdio: 'inherit' },
);
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => child.kill(signal));
child.on('exit', (code, signal) => process.exit(signal ? 2 : code));
