// An import of a CSS file. The panel's bundle writes a stylesheet. The renderer's bundle inserts the CSS text into its
// shadow root.
declare module '*.css' {
  export const text: string;
  // esbuild's text loader exports the text as default.
  // oxlint-disable-next-line import/no-default-export
  export default text;
}
