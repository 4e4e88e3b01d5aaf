import { Console } from 'node:console';
import { syncBuiltinESMExports } from 'node:module';

/**
 * Takes the process's output for batches alone: what the function prints, by whatever way, goes to the errors' stream
 * from here on. Has to be called before the function is loaded.
 * @returns writes bytes and waits until there is room for more
 */
export function takeOutput(): (bytes: Uint8Array) => Promise<void> {
  const output = process.stdout;
  // Whoever writes is told; without a listener it would end the process first.
  output.on('error', () => {});
  Object.defineProperty(process, 'stdout', { value: process.stderr, configurable: true });
  globalThis.console = new Console(process.stderr, process.stderr);
  // For `import { stdout } from 'node:process'`.
  syncBuiltinESMExports();
  return (bytes) =>
    new Promise((resolve, reject) => {
      output.write(bytes, (error) => (error ? reject(error) : resolve()));
    });
}
