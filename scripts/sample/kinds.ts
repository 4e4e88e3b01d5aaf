export type Kind = keyof typeof kinds;

/** Kinds of products: price range in whole euros, hue of their images, tags and a description. */
export const kinds = {
  mug: { low: 8, high: 24, hue: 20, tags: ['kitchen', 'tea'], use: 'Holds a generous cup and keeps it warm' },
  lamp: {
    low: 29,
    high: 149,
    hue: 48,
    tags: ['light', 'living room'],
    use: 'Throws a soft light on a desk or a shelf',
  },
  chair: { low: 59, high: 349, hue: 200, tags: ['furniture', 'dining'], use: 'Sits well through a long dinner' },
  plant: { low: 9, high: 79, hue: 125, tags: ['green', 'window'], use: 'Wants light, little water and a kind word' },
  book: { low: 12, high: 45, hue: 280, tags: ['paper', 'gift'], use: 'Reads well on trains and in the bath' },
  bag: { low: 25, high: 189, hue: 340, tags: ['travel', 'everyday'], use: 'Carries a laptop, lunch and an umbrella' },
  clock: { low: 19, high: 129, hue: 225, tags: ['wall', 'time'], use: 'Ticks quietly and keeps good time' },
  bottle: { low: 11, high: 39, hue: 175, tags: ['travel', 'kitchen'], use: 'Keeps water cold for a day' },
  cushion: { low: 14, high: 59, hue: 310, tags: ['living room', 'soft'], use: 'Makes any bench a better place' },
  kettle: { low: 25, high: 119, hue: 5, tags: ['kitchen', 'tea'], use: 'Boils a litre while you find the cups' },
} as const satisfies Record<string, { low: number; high: number; hue: number; tags: readonly string[]; use: string }>;
