import type { CommMessage } from '#session/comms/commTypes.ts';
import { isRecord } from '#shared/records.ts';
import type { JupyterMessage } from './jupyterFrames.ts';

/** Converts a comm message from Jupyter; returns `undefined` if it is not valid. */
export function commOf({ header, content, metadata, buffers }: JupyterMessage): CommMessage | undefined {
  const { comm_id: commId, target_name: target, data = {} } = content;
  if (typeof commId !== 'string') return undefined;
  const common = { commId, data, metadata, buffers: buffers.map((each) => Uint8Array.from(each)) };
  switch (header.msg_type) {
    case 'comm_open':
      return typeof target === 'string' ? { kind: 'open', target, ...common } : undefined;
    case 'comm_msg':
      return { kind: 'message', ...common };
    case 'comm_close':
      return { kind: 'close', ...common };
    default:
      return undefined;
  }
}

const types = { open: 'comm_open', message: 'comm_msg', close: 'comm_close' } as const;

/** Converts a comm message of the notebook to Jupyter's names. */
export function jupyterComm(message: CommMessage): {
  type: string;
  content: Record<string, unknown>;
  metadata: Record<string, unknown>;
  buffers: Uint8Array[];
} {
  const { kind, commId, data, metadata, buffers } = message;
  const opening = kind === 'open' && { target_name: message.target, target_module: null };
  return { type: types[kind], content: { comm_id: commId, ...opening, data }, metadata, buffers };
}

export function commInfo(open: readonly { commId: string; target: string }[]): Record<string, unknown> {
  return {
    status: 'ok',
    comms: Object.fromEntries(open.map(({ commId, target }) => [commId, { target_name: target }])),
  };
}

/** Returns the target that a `comm_info_request` filters by; `undefined` for all targets. */
export const wantedTarget = (content: unknown): string | undefined =>
  isRecord(content) && typeof content['target_name'] === 'string' && content['target_name'] !== ''
    ? content['target_name']
    : undefined;
