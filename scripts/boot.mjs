#!/usr/bin/env node
// The entry of every npm script: `node scripts/boot.mjs <command> [arguments]`. This file is plain JavaScript for Node
// 18, because the installed Node is often old. It first switches to a newer Node, which some dependencies need.
import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { isNotServed, npm, quietInstall } from './npm.mjs';
import { enginePackage, sqlEnginePackage, thisPlatform } from './platforms.mjs';

/** Command → module that exports `main(args): number | Promise<number>`, which returns the exit code. */
const commands = {
  start: 'scripts/start.ts',
  test: 'test/harness/main.ts',
  bench: 'test/bench/main.ts',
  build: 'scripts/build.ts',
  watch: 'scripts/watch.ts',
  check: 'scripts/check.ts',
  generate: 'scripts/generate.ts',
  words: 'scripts/words.ts',
  format: 'scripts/format.ts',
  package: 'scripts/package.ts',
  cli: 'scripts/cli.ts',
};
const minimum = [22, 19];
const pinned = '24.21.0';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const say = (line) => process.stderr.write(`${line}\n`);
const [command, ...args] = process.argv.slice(2);

try {
  await boot();
} catch (error) {
  const isUsage = error instanceof Error && String(error.code).startsWith('ERR_PARSE_ARGS');
  if (isUsage) say(`${error.message.split('. ', 1)[0]}. Add "-- --help" to show the options.`);
  else say(error instanceof Error ? error.message : String(error));
  process.exitCode = isUsage ? 2 : 1;
}

async function boot() {
  if (command === undefined || !Object.hasOwn(commands, command)) {
    say(`"${command ?? ''}" is not a command of this project. Commands: ${Object.keys(commands).join(', ')}.`);
    process.exitCode = 2;
    return;
  }
  if (!isFit(process.versions.node)) return handOver(await fitNode());
  requirePackages();
  await requireEngines();
  // Put this Node first on PATH for child processes and their children.
  process.env.PATH = [dirname(process.execPath), process.env.PATH].filter(Boolean).join(delimiter);
  const { main } = await import(pathToFileURL(join(root, commands[command])).href);
  process.exitCode = await main(args);
}

function isFit(version) {
  const [major, minor] = version.split('.').map(Number);
  return major > minimum[0] || (major === minimum[0] && minor >= minimum[1]);
}

/** Returns the path of a supported Node below .toolchain/; installs it if missing. */
async function fitNode() {
  const wanted = `Node ${minimum.join('.')} or newer`;
  const name = thisPlatform()?.node;
  if (!name)
    throw new Error(
      `This is Node ${process.versions.node} and npm has no newer one for this platform: install ${wanted}.`,
    );
  const folder = join(root, '.toolchain', 'node');
  const path = join(folder, 'node_modules', name, 'bin', process.platform === 'win32' ? 'node.exe' : 'node');
  if (!existsSync(path)) {
    say(
      `This is Node ${process.versions.node}; fetching Node ${pinned} into .toolchain/node (50 MB to download, once) …`,
    );
    mkdirSync(folder, { recursive: true });
    // Write a manifest, because npm would install into the repository if the folder had none.
    writeFileSync(join(folder, 'package.json'), '{"private":true}\n');
    try {
      await npm(['install', `${name}@${pinned}`, '--prefix', folder, '--engine-strict=false', ...quietInstall], {
        cwd: folder,
        quiet: true,
      });
    } catch (cause) {
      throw new Error(`Can't download Node ${pinned} (${firstLine(cause)}): install ${wanted} and try again.`, {
        cause,
      });
    }
  }
  return path;
}

/** Runs the same command on another Node, with the same exit code or signal. */
function handOver(node) {
  const child = spawn(node, process.argv.slice(1), { stdio: 'inherit', windowsHide: true });
  // Ignore Ctrl-C, because a terminal also sends it to the child. Other signals are forwarded to the child.
  process.on('SIGINT', () => {});
  for (const signal of ['SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal));
  return new Promise((resolve, reject) => {
    child.once('error', (cause) =>
      reject(new Error(`Can't run ${node}: delete .toolchain/node and try again.`, { cause })),
    );
    child.once('exit', (code, signal) => {
      process.exitCode = code ?? 1;
      if (signal) {
        process.removeAllListeners(signal);
        process.kill(process.pid, signal);
      }
      resolve();
    });
  });
}

function manifest() {
  return JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
}

function requirePackages() {
  const { dependencies, devDependencies } = manifest();
  const missing = Object.keys({ ...dependencies, ...devDependencies }).filter((name) => !isInstalled(name));
  if (missing.length > 0)
    throw new Error(
      `node_modules lacks ${missing.slice(0, 3).join(', ')}${missing.length > 3 ? ', …' : ''}: run "npm install" first.`,
    );
}

function isInstalled(name, version) {
  const path = join(root, 'node_modules', name, 'package.json');
  if (!existsSync(path)) return false;
  return version === undefined || JSON.parse(readFileSync(path, 'utf8')).version === version;
}

/**
 * Installs the native parts of the engines if they are missing. They are optional packages, and npm omits an optional
 * package silently if the registry does not have it. If the install is refused, the next attempt is after a day.
 * Without the engine for tables the product supports only `rest` catalogs, without the SQL engine no SQL.
 */
async function requireEngines() {
  const platform = thisPlatform();
  const { dependencies } = manifest();
  await requireNative({
    name: platform ? enginePackage(platform) : null,
    version: dependencies['@lancedb/lancedb'],
    what: 'the engine for local tables',
    without: 'with REST catalogs only',
    size: 70,
  });
  await requireNative({
    name: platform ? sqlEnginePackage(platform) : null,
    version: dependencies['@duckdb/node-bindings'],
    what: 'the SQL engine',
    without: 'without SQL',
    size: 25,
  });
}

async function requireNative({ name, version, what, without, size }) {
  const skip = (why) => say(`Can't install ${what}: ${why}. Continuing ${without}.`);
  if (!name) return skip(`upstream builds none for ${process.platform}-${process.arch}`);
  if (isInstalled(name, version)) return;
  const refused = join(root, '.toolchain', `refused-${name.replace('/', '+')}`);
  const reason = `the registry does not serve ${name}@${version}`;
  if (existsSync(refused) && Date.now() - statSync(refused).mtimeMs < 86_400_000) return skip(reason);
  say(`Fetching ${name}@${version}, ${what} (${size} MB to download, once) …`);
  try {
    await npm(['install', `${name}@${version}`, '--prefix', root, ...quietInstall], { cwd: root, quiet: true });
  } catch (error) {
    // Without a network, the next start tries again.
    if (!isNotServed(error)) return skip(`the download failed (${firstLine(error)})`);
    mkdirSync(dirname(refused), { recursive: true });
    writeFileSync(refused, firstLine(error));
    skip(reason);
  }
}

function firstLine(error) {
  return (error instanceof Error ? error.message : String(error)).split('\n', 1)[0].replace(/\.$/, '');
}
