import { randomUUID } from 'node:crypto';
import jupyter from 'tslab/dist/jupyter.js';
import type { CellOutput } from '#session/coreMessages.ts';
import { jsonBundle } from './mimeBundle.ts';

type TslabDisplay = { data: Record<string, unknown>; transient?: { display_id?: string } };

/** Keeps notebooks written for tslab working: `import { display } from 'tslab'` sends through this hook of its own. */
export function takeTslabDisplay(send: (output: CellOutput) => void): void {
  const hooks = jupyter as { lastWriteDisplayData: unknown };
  hooks.lastWriteDisplayData = ({ data, transient }: TslabDisplay, isUpdate: boolean) => {
    const displayId = transient?.display_id ?? randomUUID();
    send({
      type: isUpdate ? 'update_display_data' : 'display_data',
      content: { data: jsonBundle(data), metadata: {}, displayId },
    });
  };
}
