/** Runs in the page. Returns the color of an element's text, and that of the editor behind it. */
export function colours(element: Element): [text: string, ground: string] {
  const probe = document.createElement('span');
  probe.style.color = 'var(--vscode-editor-background)';
  document.body.append(probe);
  const ground = getComputedStyle(probe).color;
  probe.remove();
  return [getComputedStyle(element).color, ground];
}

/** Returns the contrast of two `rgb(…)` colors by the formula of WCAG 2, from 1 to 21. */
export function contrast(first: string, second: string): number {
  const [light = 0, dark = 0] = [first, second]
    .map((colour) => {
      const [red = 0, green = 0, blue = 0] = (colour.match(/[\d.]+/g) ?? []).map((part) => {
        const share = Number(part) / 255;
        return share <= 0.03928 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
      });
      return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
    })
    .toSorted((a, b) => b - a);
  return (light + 0.05) / (dark + 0.05);
}
