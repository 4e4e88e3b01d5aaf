import type { Wire } from './worker.ts';
export async function openJupyter(_: unknown): Promise<Wire> {
  throw new Error('x');
}
