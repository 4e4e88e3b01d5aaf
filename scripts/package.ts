import { spawnSync } from 'node:child_process';
import { mkdirSync, rmSync, statSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { buildAll, isStale } from './build.ts';
import { fetchBundler, fetchEngine, fetchSqlEngine } from './package/engine.ts';
import { thirdPartyNotices } from './package/notices.ts';
import { readManifest } from './package/runtime.ts';
import { stage } from './package/stage.ts';
import { inRoot } from './paths.ts';
import { platforms } from './platforms.mjs';

const universal = 'universal';
const say = (line: string): void => console.log(line);
const help = `npm run package -- [--target NAME]
  Create out/vsix/*.vsix: one for each platform whose engine the registry serves, and "${universal}" (REST catalogs only) for the others.
  Targets: ${[...platforms.map(({ target }) => target), universal].join(', ')}`;

/** `npm run package`. Returns the exit code. */
export async function main(args: readonly string[]): Promise<number> {
  const { values } = parseArgs({
    args: [...args],
    options: { target: { type: 'string' }, help: { type: 'boolean', default: false } },
  });
  if (values.help) {
    say(help);
    return 0;
  }
  const wanted = platforms.filter(({ target }) => values.target === undefined || values.target === target);
  if (wanted.length === 0 && values.target !== universal) {
    console.error(`"${values.target ?? ''}" is not a target.\n${help}`);
    return 2;
  }
  if (isStale() && (await buildAll(say)) > 0) return 1;
  const notices = await thirdPartyNotices();
  mkdirSync(inRoot('out/vsix'), { recursive: true });
  const without: string[] = [];
  for (const platform of wanted) {
    const engine = await fetchEngine(platform, say);
    const bundler = await fetchBundler(platform, say);
    const sqlEngine = await fetchSqlEngine(platform, say);
    const missing = [engine, bundler, sqlEngine].flatMap((each) => ('missing' in each ? [each.missing] : []));
    if ('folder' in engine && 'folder' in bundler && 'folder' in sqlEngine)
      pack({
        platform,
        engine: engine.folder,
        bundler: bundler.folder,
        sqlEngine: sqlEngine.folder,
        notices,
      });
    else without.push(`  ${platform.target}: ${missing.join(', ')}`);
  }
  if (values.target === undefined || values.target === universal)
    pack({ platform: undefined, engine: undefined, bundler: undefined, sqlEngine: undefined, notices });
  if (without.length > 0)
    say(
      [
        'These platforms have no package with an engine and use the universal one (REST catalogs only):',
        ...without,
      ].join('\n'),
    );
  // A missing native package is a failure only if the user requested the target by name.
  return values.target !== undefined && without.length > 0 ? 1 : 0;
}

/** Returns the path of a target's VSIX, below out/vsix. */
export function vsixPath(target: string): string {
  return inRoot('out/vsix', `lance-catalog-${target}-${readManifest(inRoot()).version}.vsix`);
}

function pack(parts: Parameters<typeof stage>[1]): void {
  const { platform, engine } = parts;
  const target = platform?.target ?? universal;
  const folder = inRoot('out/package', target);
  const file = vsixPath(target);
  stage(folder, parts);
  rmSync(file, { force: true });
  const tool = inRoot('node_modules/@vscode/vsce/vsce');
  const options = [
    '--allow-missing-repository',
    '--no-rewrite-relative-links',
    '--skip-license',
    '--out',
    file,
    ...(platform ? ['--target', target] : []),
  ];
  const { status, stdout, stderr } = spawnSync(process.execPath, [tool, 'package', ...options], {
    cwd: folder,
    encoding: 'utf8',
  });
  if (status !== 0) throw new Error(`Packaging ${target} failed.\n${stdout}${stderr}`);
  rmSync(folder, { recursive: true, force: true });
  say(`${file} (${Math.round(statSync(file).size / 1_000_000)} MB${engine === undefined ? ', without engine' : ''})`);
}
