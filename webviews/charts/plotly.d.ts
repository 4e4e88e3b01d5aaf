/** The used part of Plotly's API; the package has no declarations. */
declare module 'plotly.js-dist-min' {
  const Plotly: {
    newPlot(
      place: HTMLElement,
      figure: { data: unknown[]; layout: object; config: object; frames?: unknown[] },
    ): Promise<unknown>;
    purge(place: HTMLElement): void;
  };
  export default Plotly;
}
