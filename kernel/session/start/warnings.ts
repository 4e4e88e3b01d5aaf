import { writeSync } from 'node:fs';

/**
 * Has warnings of Node go straight to the descriptor: those of a thread are printed by the main thread, where they would look
 * like the output of a cell.
 */
export function sayWarnings(): void {
  process.removeAllListeners('warning');
  process.on('warning', ({ name, message }) => {
    // ZeroMQ's word on an option that is set while a socket is in use; the one that we set so takes effect.
    if (!message.startsWith('Socket option will not take effect')) writeSync(2, `${name}: ${message}\n`);
  });
}
