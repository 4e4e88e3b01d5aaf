/** A row of a tree as data, which its view converts to a `TreeItem`. */
export type TreeRow = {
  readonly id: string;
  readonly label: string;
  readonly description: string;
  /** Markdown; text from outside is escaped. */
  readonly tooltip: string;
  /** For screen readers. */
  readonly spoken: string;
  readonly icon: { readonly id: string; readonly color?: string };
  /** `leaf` if absent. */
  readonly state?: 'leaf' | 'collapsed' | 'expanded';
  /** Words separated by dots for `when` clauses, the kind of row first. */
  readonly contextValue: string;
};
