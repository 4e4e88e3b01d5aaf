import { isRecord } from '#shared/records.ts';

/** What the engine process says of itself in one line on stdout, once it listens. */
export type EngineHandshake = {
  protocol: 1;
  pid: number;
  node: string;
  napi: number;
  /** The version of the engine, `null` where it does not load. */
  engine: string | null;
  /** Why it does not load. */
  problem: string | null;
};

/** Reads a line as a handshake; `undefined` when it is none. */
export function parseHandshake(line: string): EngineHandshake | undefined {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch {
    return undefined;
  }
  if (!isRecord(value)) return undefined;
  const { protocol, pid, node, napi, engine, problem } = value;
  const fits =
    protocol === 1 &&
    typeof pid === 'number' &&
    typeof node === 'string' &&
    typeof napi === 'number' &&
    (engine === null || typeof engine === 'string') &&
    (problem === null || typeof problem === 'string');
  return fits ? { protocol, pid, node, napi, engine, problem } : undefined;
}
