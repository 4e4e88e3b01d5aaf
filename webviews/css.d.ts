// The panel's bundle writes a stylesheet; the renderer's bundle inserts the CSS text into its shadow root.
declare module '*.css' {
  export const text: string;
  // esbuild's text loader exports the text as default.
  // oxlint-disable-next-line import/no-default-export
  export default text;
}
