import type { CallOptions } from './callOptions.ts';
import type { Operation } from './operations.ts';
import { about, type RestTarget } from './restTarget.ts';

const maxPlanBytes = 16 * 1024 * 1024;

/**
 * Asks for a text: the specification answers with JSON that is a bare string, some servers with plain text, and its data
 * model says an object with one text.
 */
export function readText(
  target: RestTarget,
  operation: Operation,
  json: unknown,
  { signal }: CallOptions,
): Promise<string> {
  return about(target, operation, async () => {
    const { body, contentType } = await target.wire.send({ operation, id: target.id, json, signal });
    const chunks: Uint8Array[] = [];
    let total = 0;
    for await (const chunk of body) {
      total += chunk.length;
      if (total > maxPlanBytes) {
        body.destroy();
        throw target.wire.unexpected(`a plan of over ${maxPlanBytes} bytes`);
      }
      chunks.push(chunk);
    }
    const text = Buffer.concat(chunks).toString('utf8');
    if (contentType.startsWith('text/plain')) return text;
    const plan = parse(text);
    const value = typeof plan === 'object' && plan !== null ? Object.values(plan).find(isText) : plan;
    if (isText(value)) return value;
    throw target.wire.unexpected('a plan that is no text');
  });
}

const isText = (value: unknown): value is string => typeof value === 'string';

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
