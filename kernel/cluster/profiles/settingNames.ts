// Settings have two spellings: ours (`headGroup`), and the spelling of Python and upstream's documentation
// (`head_group`).

/** Upstream names that are not our names in snake_case. */
const serviceNames: Readonly<Record<string, string>> = { usePortForwarding: 'use_portforwarding' };

const ours: Readonly<Record<string, string>> = Object.fromEntries(
  Object.entries(serviceNames).map(([name, service]) => [service, name]),
);

/** `head_group` → `headGroup`; a name in our spelling is unchanged. */
export const toSettingName = (written: string): string =>
  Object.hasOwn(ours, written)
    ? (ours[written] ?? written)
    : written.replaceAll(/(?<=[a-z0-9])_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());

/** Returns the other spellings of a setting, upstream's first; none for a name of one word. */
export function otherSpellings(name: string): readonly string[] {
  const snake = name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
  const service = Object.hasOwn(serviceNames, name) ? serviceNames[name] : undefined;
  return [...(service === undefined ? [] : [service]), snake].filter((one) => one !== name);
}
