import { isRecord } from '#shared/records.ts';

/** The line that the engine process writes to stdout once it listens. */
export type EngineHandshake = {
  protocol: 1;
  pid: number;
  node: string;
  napi: number;
  /** The version of the engine; `null` if the engine does not load. */
  engine: string | null;
  /** The reason why the engine does not load; `null` if it loads. */
  problem: string | null;
};

/** Parses a line as a handshake; `undefined` for other lines. */
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
