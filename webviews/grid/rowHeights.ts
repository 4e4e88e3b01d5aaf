/** The heights that rows can have, with their heights in pixels. */
export const rowHeights = { small: 33, medium: 66, large: 132 } as const;

export type RowHeight = keyof typeof rowHeights;

/** Returns a row height from a saved state; the small one if the state has none. */
export const rowHeightOf = (saved: unknown): RowHeight => (saved === 'medium' || saved === 'large' ? saved : 'small');

export const rowHeightLabels: Readonly<Record<RowHeight, string>> = {
  small: 'Small Rows',
  medium: 'Medium Rows',
  large: 'Large Rows',
};
