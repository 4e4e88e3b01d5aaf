import { findSpecs, settingsOf, type FoundSpec } from '#session/kernelspecs/list.ts';
import { stateOf, type SpecState } from '#session/kernelspecs/specState.ts';
import { parse } from './command.ts';

/** `kernel list`: our kernelspecs, where they are, what they run, and why they do not. */
export async function list(args: readonly string[]): Promise<number> {
  parse(args, {});
  const ours = (await findSpecs()).filter((spec) => spec.isOurs);
  if (ours.length === 0) {
    console.log('Jupyter knows no kernel of Lance Catalog here. To install one: lance-catalog kernel install');
    return 0;
  }
  for (const spec of ours) console.log(describe(spec, await stateOf(spec)));
  return 0;
}

function describe(spec: FoundSpec, state: SpecState): string {
  const { catalog, typeCheck, language } = settingsOf(spec);
  const lines = [
    `${spec.name}  ${spec.displayName}`.trimEnd(),
    `  in          ${spec.folder}`,
    ...(catalog === undefined ? [] : [`  catalog     ${catalog}`]),
    ...(typeCheck === undefined ? [] : [`  type check  ${typeCheck}`]),
    ...(language === undefined ? [] : [`  language    ${language}`]),
    state.works
      ? `  runs        Lance Catalog ${state.version} in ${state.installation}, by Node ${state.nodeVersion} (${state.node})`
      : `  fails       ${state.why}`,
  ];
  return lines.join('\n');
}
