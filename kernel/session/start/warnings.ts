import { writeSync } from 'node:fs';

/**
 * Writes Node's warnings directly to file descriptor 2, because the main thread would print the warnings of other
 * threads, and they would look like the output of a cell.
 */
export function redirectWarnings(): void {
  process.removeAllListeners('warning');
  process.on('warning', ({ name, message }) => {
    // The ZeroMQ library warns if an option is set while a socket is in use. The kernel sets only one option this way,
    // and it does take effect, so this warning is dropped.
    if (!message.startsWith('Socket option will not take effect')) writeSync(2, `${name}: ${message}\n`);
  });
}
