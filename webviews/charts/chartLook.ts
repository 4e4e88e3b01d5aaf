/** The colours and the font that a chart takes from the editor, as CSS has them. */
export type ChartLook = { isDark: boolean; text: string; lines: string; font: string };

/** The look of an output. Libraries compute with colours, so these are no names of variables. */
export function lookOf(element: HTMLElement): ChartLook {
  const { classList } = document.body;
  const isLight = classList.contains('vscode-light') || classList.contains('vscode-high-contrast-light');
  const { color, fontFamily } = getComputedStyle(element);
  return { isDark: !isLight, text: color, lines: faint(color), font: fontFamily };
}

/** The same colour, as much of it as lines behind a chart need. */
const faint = (color: string): string => color.replace(/^rgba?\((\d+), (\d+), (\d+).*$/, 'rgba($1, $2, $3, 0.25)');
