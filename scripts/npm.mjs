// This file is plain JavaScript, because boot.mjs imports it on any installed Node.
import { spawn } from 'node:child_process';

/**
 * Runs the npm that started this process, or else the npm on PATH.
 * @param {readonly string[]} args
 * @param {{ cwd?: string, quiet?: boolean }} [options] `quiet` prints nothing; the error has the end of npm's stderr
 * @returns {Promise<string>} npm's stdout (empty unless quiet)
 */
export function npm(args, options = {}) {
  const script = process.env['npm_execpath'];
  const own = script !== undefined && /npm-cli\.c?js$/.test(script);
  // Windows has npm only as npm.cmd, and Node runs .cmd files only with a shell.
  const shell = !own && process.platform === 'win32';
  const command = own ? process.execPath : shell ? 'npm.cmd' : 'npm';
  const child = spawn(command, [...(own ? [script] : []), ...args], {
    ...(options.cwd !== undefined && { cwd: options.cwd }),
    shell,
    windowsHide: true,
    stdio: options.quiet ? ['ignore', 'pipe', 'pipe'] : ['ignore', 'inherit', 'inherit'],
  });
  let stdout = '';
  let stderr = '';
  child.stdout?.setEncoding('utf8').on('data', (text) => (stdout += text));
  child.stderr?.setEncoding('utf8').on('data', (text) => (stderr += text));
  return new Promise((resolve, reject) => {
    child.once('error', (cause) => reject(new Error("Can't run npm. Put it on PATH.", { cause })));
    child.once('close', (code, signal) => {
      if (code === 0) return resolve(stdout);
      const report = stderr.trim().split('\n').slice(-12).join('\n');
      reject(new Error(`npm ${args[0]} ended with ${code ?? signal}.${report ? `\n${report}` : ''}`));
    });
  });
}

/** Returns whether an install failed because the registry lacks the package, not because of the network. */
export const isNotServed = (error) => error instanceof Error && /\bE404\b|ETARGET/.test(error.message);

/** The flags of every install by scripts: no install scripts, no changes to package.json. */
export const quietInstall = [
  '--no-save',
  '--no-package-lock',
  '--ignore-scripts',
  '--no-audit',
  '--no-fund',
  '--loglevel=error',
];
