/** Returns the next number from 0 to 1. A seed gives the same sequence on every machine (mulberry32). */
export type Random = () => number;

export function seeded(seed: number): Random {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

export const between = (random: Random, low: number, high: number): number => low + (high - low) * random();

/** Returns an integer from 0 to `count - 1`. */
export const below = (random: Random, count: number): number => Math.floor(random() * count);

export function pick<T>(random: Random, from: readonly T[]): T {
  const found = from[below(random, from.length)];
  if (found === undefined) throw new RangeError("Can't pick from an empty list.");
  return found;
}

/** Returns a number of the normal distribution with mean 0 and deviation 1. */
export const bell = (random: Random): number =>
  Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());
