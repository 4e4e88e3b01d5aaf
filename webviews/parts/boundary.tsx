import { Component, type ReactNode } from 'react';

type BoundaryProps = {
  /** Replaces the children if drawing them fails. */
  readonly fallback: ReactNode;
  readonly children: ReactNode;
};

/**
 * Limits a drawing error to the children of this component. Without a boundary, React would remove the whole page.
 * Values are formatted while they are drawn, and a readable Arrow stream may contain invalid columns.
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
