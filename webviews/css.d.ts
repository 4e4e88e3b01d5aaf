// The panel's bundle makes a stylesheet of these, the renderer's takes their text into its shadow root.
declare module '*.css' {
  export const text: string;
  // A text import of esbuild has its value as the default export.
  // oxlint-disable-next-line import/no-default-export
  export default text;
}
