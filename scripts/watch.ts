import { context, formatMessages, type BuildContext, type Plugin } from 'esbuild';
import { buildAll } from './build.ts';
import { bundleOptions, bundles, type Bundle } from './bundles.ts';
import { onInterrupt } from './processes.ts';

const help = `npm run watch
  Build everything in dist/ with source maps, and rebuild a bundle when one of its files changes.
Press Ctrl-C to stop. The declarations that cells are checked against (dist/types) are built at the start only.`;

/** `npm run watch`. Resolves with the exit code on an interrupt. */
export async function main(args: readonly string[]): Promise<number> {
  if (args.includes('--help')) {
    console.log(help);
    return 0;
  }
  console.log('building …');
  // Builds the types and copies the scripts. The watchers below then rebuild the bundles with source maps.
  await buildAll(console.log);
  const contexts = await Promise.all(bundles.map((bundle) => watchBundle(bundle)));
  return new Promise((resolve) => {
    onInterrupt(async () => {
      await Promise.all(contexts.map((one) => one.dispose()));
      resolve(0);
    });
    console.log('watching for changes');
  });
}

async function watchBundle(bundle: Bundle): Promise<BuildContext> {
  const options = bundleOptions(bundle);
  let isFirst = true;
  let first: () => void;
  const built = new Promise<void>((resolve) => (first = resolve));
  const report: Plugin = {
    name: 'report',
    setup(build) {
      build.onEnd(async ({ errors }) => {
        for (const line of await formatMessages(errors, { kind: 'error' })) console.log(line.trimEnd());
        if (!isFirst && errors.length === 0) console.log(`built ${bundle.outputs[0]}`);
        isFirst = false;
        first();
      });
    },
  };
  // The text of this script is part of the snapshot, so it has no source map.
  const sourcemap = bundle.kind === 'snapshot' ? false : 'linked';
  const one = await context({ ...options, sourcemap, plugins: [...(options.plugins ?? []), report] });
  await one.watch();
  await built;
  return one;
}
