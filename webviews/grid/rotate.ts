/**
 * Gives the elements that leave at one side to what enters at the other side. After a jump past all of them nothing
 * moves, because every element shows something else anyway.
 * @param by number of places that the items move towards the start; negative towards the end
 */
export function rotate(parent: HTMLElement, items: { readonly element: HTMLElement }[], by: number): void {
  if (Math.abs(by) >= items.length) return;
  if (by > 0) {
    const moved = items.splice(0, by);
    items.push(...moved);
    parent.append(...moved.map(({ element }) => element));
  } else if (by < 0) {
    const moved = items.splice(by);
    items.unshift(...moved);
    parent.prepend(...moved.map(({ element }) => element));
  }
}
