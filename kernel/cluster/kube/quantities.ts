import type { RayGroup } from '#cluster/profile.ts';

// Kubernetes quantities: `500m`, `4`, `1.5Gi`, `2e3`, `1E`.

/** Powers of ten by suffix. */
const decimal: Readonly<Record<string, number>> = { n: -9, u: -6, m: -3, '': 0, k: 3, M: 6, G: 9, T: 12, P: 15, E: 18 };
/** Powers of two by suffix. */
const binary: Readonly<Record<string, number>> = { Ki: 10, Mi: 20, Gi: 30, Ti: 40, Pi: 50, Ei: 60 };

/**
 * Parses a quantity to its base unit: cores, bytes or a count.
 * @returns `undefined` if it is not a quantity
 */
export function parseQuantity(value: unknown): number | undefined {
  if (typeof value === 'number') return Number.isFinite(value) ? value : undefined;
  if (typeof value !== 'string') return undefined;
  // Digits distinguish an exponent from the suffix E: `1E3` is 1000, `1E` is 10^18.
  const parts = /^([+-]?(?:\d+\.?\d*|\.\d+))(?:[eE]([+-]?\d+)|([numkMGTPE]|[KMGTPE]i)?)$/.exec(value.trim());
  if (!parts) return undefined;
  const [, digits = '', exponent, suffix = ''] = parts;
  const power = binary[suffix];
  if (power !== undefined) return Number(digits) * 2 ** power;
  // Parsed as one number, because a multiplication would round 100u down.
  return Number(`${digits}e${exponent ?? decimal[suffix] ?? 0}`);
}

export type Resources = {
  /** Cores. */
  readonly cpu: number;
  /** Bytes. */
  readonly memory: number;
  /** Whole NVIDIA GPUs. */
  readonly gpu: number;
};

export const gpuResource = 'nvidia.com/gpu';

/** Returns what one pod of a profile's group requests. A number as memory means MiB. */
export function resourcesOfGroup({ numCpus, memory, numGpus }: RayGroup): Resources {
  const bytes = typeof memory === 'number' ? memory * 2 ** 20 : (parseQuantity(memory) ?? 0);
  return { cpu: parseQuantity(numCpus) ?? 0, memory: bytes, gpu: numGpus };
}

/** Formats cores for display: `4 CPU`, `0.5 CPU`. */
export const showCpu = (cores: number): string => `${roundTo(cores, 3)} CPU`;

const steps = ['Ki', 'Mi', 'Gi', 'Ti', 'Pi', 'Ei'] as const;

/** Formats bytes for display, in binary units as in Kubernetes: `8 GiB`. */
export function showMemory(bytes: number): string {
  let size = bytes;
  let unit = '';
  for (const step of steps) {
    if (Math.abs(size) < 1024) break;
    size /= 1024;
    unit = step;
  }
  return unit === '' ? `${roundTo(size, 0)} B` : `${roundTo(size, 2)} ${unit}B`;
}

/** Formats resources for display: `4 CPU, 8 GiB and 1 GPU`. */
export function showResources({ cpu, memory, gpu }: Resources): string {
  const shown = [showCpu(cpu), showMemory(memory), ...(gpu > 0 ? [`${gpu} GPU`] : [])];
  return `${shown.slice(0, -1).join(', ')} and ${shown.at(-1)}`;
}

export const writeCpu = (cores: number): string =>
  Number.isInteger(cores) ? String(cores) : `${Math.ceil(roundTo(cores * 1000, 6))}m`;

/** Formats bytes for a manifest, in Mi if that is exact. */
export const writeMemory = (bytes: number): string =>
  bytes % 2 ** 20 === 0 ? `${bytes / 2 ** 20}Mi` : String(Math.ceil(bytes));

/** Lists the resources that are too small, with both values: `memory (needs 8 GiB, has 4 GiB)`. */
export function shortOf(asked: Resources, offered: Resources): readonly string[] {
  const short: string[] = [];
  if (asked.cpu > offered.cpu + 1e-9)
    short.push(`CPU (needs ${roundTo(asked.cpu, 3)}, has ${roundTo(offered.cpu, 3)})`);
  if (asked.memory > offered.memory)
    short.push(`memory (needs ${showMemory(asked.memory)}, has ${showMemory(offered.memory)})`);
  if (asked.gpu > offered.gpu) short.push(`GPUs (needs ${asked.gpu}, has ${offered.gpu})`);
  return short;
}

export const sumOf = (all: readonly Resources[]): Resources => ({
  cpu: all.reduce((sum, { cpu }) => sum + cpu, 0),
  memory: all.reduce((sum, { memory }) => sum + memory, 0),
  gpu: all.reduce((sum, { gpu }) => sum + gpu, 0),
});

export const times = ({ cpu, memory, gpu }: Resources, count: number): Resources => ({
  cpu: cpu * count,
  memory: memory * count,
  gpu: gpu * count,
});

const roundTo = (value: number, digits: number): number => Number(value.toFixed(digits));
