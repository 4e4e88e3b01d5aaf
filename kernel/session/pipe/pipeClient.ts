import type { Socket } from 'node:net';
import { encodeFrame, readFrames } from '#shared/frames.ts';
import { isKernelOutput, type KernelMessage } from '#shared/kernelMessages.ts';
import { unsendable } from '#session/unsendable.ts';

/** An editor at the other end of a pipe or socket. */
export type PipeClient = {
  send(message: KernelMessage): void;
  /** Bytes accepted and not yet sent. */
  backlog(): number;
  /** Sends what is still to be sent, then hangs up. */
  end(): Promise<void>;
  /** Hangs up at once. */
  destroy(): void;
};

/** Speaks in frames over a connection. `onClose` is called once, however it ends. */
export function pipeClient(socket: Socket, onMessage: (message: unknown) => void, onClose: () => void): PipeClient {
  // What follows a broken frame can't be trusted to begin at a frame: the peer is not an editor of ours.
  readFrames(socket, onMessage, () => socket.destroy());
  // The reason of a broken pipe does not matter: the editor is gone, and 'close' follows.
  socket.on('error', () => {});
  socket.on('close', onClose);
  return {
    send: (message) => {
      if (!socket.destroyed) socket.write(frameOf(message));
    },
    backlog: () => socket.writableLength,
    end: () =>
      new Promise((resolve) => {
        if (socket.destroyed) resolve();
        else socket.end(resolve);
      }),
    destroy: () => void socket.destroy(),
  };
}

// One output that can't be written must not take the connection, and with it the kernel, away.
function frameOf(message: KernelMessage): Uint8Array {
  try {
    return encodeFrame(message);
  } catch (cause) {
    const { parent, type } = message;
    const error = unsendable(type, cause);
    if (isKernelOutput(message)) return encodeFrame({ type: 'error', parent, content: error });
    return encodeFrame({ type: 'error_reply', parent, content: { message: error.evalue } });
  }
}
