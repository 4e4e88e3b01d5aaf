import type { RayCapacity } from './rayReplies.ts';

/** These resources come first, in this order. Other resources, such as Ray's object store, follow. */
const shown = ['CPU', 'GPU', 'memory'] as const;
const gibibyte = 1024 ** 3;

/**
 * Returns a sentence about why work waits: the requested and the free resources. `undefined` if there are enough free
 * resources for each request.
 */
export function pendingReason(room: RayCapacity): string | undefined {
  const demand = room.demands.find(({ resources }) => lacking(room, resources).length > 0);
  if (!demand) return undefined;
  const wanted = lacking(room, demand.resources).map((name) => amount(name, demand.resources[name] ?? 0));
  const there = lacking(room, demand.resources).map((name) => {
    const { used = 0, total = 0 } = room.resources[name] ?? {};
    return total === 0 ? `no ${name}` : `${amount(name, total)} (${amount(name, total - used)} free)`;
  });
  const never = lacking(room, demand.resources).some(
    (name) => (demand.resources[name] ?? 0) > (room.resources[name]?.total ?? 0),
  );
  const end = never ? '; it waits until nodes with these resources are added' : '';
  return `The work needs ${wanted.join(' and ')} at once, but Ray has ${there.join(' and ')}${end}.`;
}

/** Returns the resources of which less is free than requested. */
function lacking(room: RayCapacity, wanted: Readonly<Record<string, number>>): string[] {
  const names = Object.keys(wanted).toSorted((a, b) => rank(a) - rank(b));
  return names.filter((name) => {
    const { used = 0, total = 0 } = room.resources[name] ?? {};
    return (wanted[name] ?? 0) > total - used;
  });
}

const rank = (name: string): number => {
  const index = shown.findIndex((one) => one === name);
  return index < 0 ? shown.length : index;
};

const amount = (name: string, value: number): string =>
  name === 'memory' ? `${Number((value / gibibyte).toFixed(1))} GiB of memory` : `${Number(value.toFixed(2))} ${name}`;
