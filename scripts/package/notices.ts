import { build } from 'esbuild';
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { bundleOptions, bundles } from '../bundles.ts';
import { inRoot } from '../paths.ts';
import { readManifest, runtimeFolders } from './runtime.ts';

/** Returns THIRD-PARTY-NOTICES.txt: every bundled or shipped package with its license text. */
export async function thirdPartyNotices(): Promise<string> {
  const folders = new Set(runtimeFolders());
  for (const bundle of bundles) {
    const { metafile } = await build({ ...bundleOptions(bundle), write: false, metafile: true });
    for (const input of Object.keys(metafile.inputs)) {
      const folder = /^(?:.*\/)?node_modules\/(?:@[^/]+\/)?[^/]+/.exec(input)?.[0];
      if (folder !== undefined) folders.add(inRoot(folder));
    }
  }
  const sections = [...folders].toSorted().map((folder) => {
    const { name, version, license } = readManifest(folder);
    return `${name} ${version} (${license || 'license below'})\n\n${licenceText(folder)}`;
  });
  const rule = `\n\n${'-'.repeat(80)}\n\n`;
  return `This product contains or comes with the following packages.${rule}${sections.join(rule)}\n`;
}

function licenceText(folder: string): string {
  const names = existsSync(folder)
    ? readdirSync(folder).filter((name) => /^(?:licen[cs]e|notice|copying)/i.test(name))
    : [];
  return (
    names.map((name) => readFileSync(join(folder, name), 'utf8').trim()).join('\n\n') ||
    'The package does not contain its license text.'
  );
}
