import { readFileSync } from 'node:fs';
import { CatalogError } from '#shared/errors.ts';

export const ports = ['shell_port', 'iopub_port', 'stdin_port', 'control_port', 'hb_port'] as const;
type Port = (typeof ports)[number];

/** Addresses to bind for a Jupyter client, and the key that signs the messages. */
export type Connection = Record<Port, string> & {
  /** The key that signs the messages. Empty if messages are not signed. */
  key: string;
};

/**
 * Reads a connection file. The ports become addresses to bind.
 * @throws CatalogError InvalidInput (13) naming the file
 */
export function readConnection(path: string): Connection {
  const bad = (what: string, cause?: unknown) =>
    new CatalogError('InvalidInput', `The connection file "${path}" ${what}.`, 'Start the kernel from Jupyter.', {
      cause,
    });
  let file: unknown;
  try {
    file = JSON.parse(readFileSync(path, 'utf8'));
  } catch (error) {
    throw bad("can't be read", error);
  }
  if (typeof file !== 'object' || file === null) throw bad('is not a JSON object');
  const {
    transport,
    ip,
    key = '',
    signature_scheme: scheme = 'hmac-sha256',
    ...rest
  } = file as Record<string, unknown>;
  if ((transport !== 'tcp' && transport !== 'ipc') || typeof ip !== 'string')
    throw bad('has no supported transport or no IP address');
  if (typeof key !== 'string') throw bad('has a key that is not a string');
  if (scheme !== 'hmac-sha256')
    throw bad(`has the signature scheme ${JSON.stringify(scheme)}, but the kernel supports only hmac-sha256`);
  const addresses = ports.map((port): [Port, string] => {
    const number = rest[port];
    if (typeof number !== 'number' || !Number.isSafeInteger(number)) throw bad(`has no ${port}`);
    return [port, transport === 'tcp' ? `tcp://${ip}:${number}` : `ipc://${ip}-${number}`];
  });
  return { ...(Object.fromEntries(addresses) as Record<Port, string>), key };
}
