/** The version numbers that determine compatibility. */
export type VersionNumber = { readonly major: number; readonly minor: number; readonly patch: number };

/**
 * Parses the version at the start of a string: an image tag (`v1.3.2`, `2.43.0-py311-gpu`), or an API server's
 * version (`v1.30.5-gke.1014001`). @returns `undefined` if there is none
 */
export function versionIn(text: string | undefined): VersionNumber | undefined {
  const parts = /^v?(\d{1,6})\.(\d{1,6})(?:\.(\d{1,9}))?(?![\d])/.exec(text ?? '');
  if (!parts) return undefined;
  return { major: Number(parts[1]), minor: Number(parts[2]), patch: Number(parts[3] ?? 0) };
}

/** Negative if `a` is older. */
export const compareVersions = (a: VersionNumber, b: VersionNumber): number =>
  a.major - b.major || a.minor - b.minor || a.patch - b.patch;

export const isAtLeast = (version: VersionNumber, least: VersionNumber): boolean =>
  compareVersions(version, least) >= 0;

export const showVersion = ({ major, minor, patch }: VersionNumber): string => `${major}.${minor}.${patch}`;

/** Formats major and minor version (`1.30`). The compatibility of Kubernetes and operators depends on these two. */
export const showMinor = ({ major, minor }: VersionNumber): string => `${major}.${minor}`;

/** Returns the tag of an image, or `undefined` if it has none, for example only a digest. */
export function tagOf(image: string): string | undefined {
  const name = image.split('@', 1)[0] ?? '';
  const last = name.slice(name.lastIndexOf('/') + 1);
  const colon = last.indexOf(':');
  return colon < 0 ? undefined : last.slice(colon + 1);
}

/**
 * Reads the version of Ray from an image's tag, if the image is named after Ray. Tags of other images are versions of
 * other software.
 * `isRay` is true for images that contain only Ray, in any registry. It is false for images such as `team/ray-worker`,
 * because the tag may be the team's own version.
 */
export function rayVersionOf(image: string): { readonly version: VersionNumber; readonly isRay: boolean } | undefined {
  const tag = tagOf(image);
  const version = versionIn(tag);
  if (tag === undefined || !version) return undefined;
  const name = (image.split('@', 1)[0] ?? '').slice(0, -tag.length - 1);
  const path = name.includes('/') ? name.slice(name.indexOf('/') + 1) : name;
  if (name.startsWith('rayproject/') || /(?:^|\/)ray(?:-ml|-llm)?$/.test(path)) return { version, isRay: true };
  // example.com/team/ray-worker, example.com/my_ray: a word of the name, not of the host.
  return /(?:^|[/_.-])ray(?:$|[/_.-])/.test(path) ? { version, isRay: false } : undefined;
}
