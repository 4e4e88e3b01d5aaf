import { Component } from 'react';
import type { ReactNode } from 'react';

type BoundaryProps = {
  /** What is shown in place of the children when drawing them failed. */
  readonly fallback: ReactNode;
  readonly children: ReactNode;
};

/**
 * Keeps a failure to draw in its place. Values are formatted while they are drawn, and an Arrow stream that reads well can
 * still hold columns that make no sense; without this React would take everything off the screen.
 */
export class Boundary extends Component<BoundaryProps, { failed: boolean }> {
  override state = { failed: false };

  static getDerivedStateFromError(): { failed: boolean } {
    return { failed: true };
  }

  override render(): ReactNode {
    return this.state.failed ? this.props.fallback : this.props.children;
  }
}
