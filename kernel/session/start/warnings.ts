import { writeSync } from 'node:fs';

/**
 * Writes Node's warnings directly to file descriptor 2, because the main thread prints those of other threads, where
 * they would look like the output of a cell.
 */
export function redirectWarnings(): void {
  process.removeAllListeners('warning');
  process.on('warning', ({ name, message }) => {
    // ZeroMQ warns about options set while a socket is in use; the one option set this way does take effect.
    if (!message.startsWith('Socket option will not take effect')) writeSync(2, `${name}: ${message}\n`);
  });
}
