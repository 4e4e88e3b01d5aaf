import jupyter from 'tslab/dist/jupyter.js';
import type { CellOutput } from '#session/threads/coreMessages.ts';
import { jsonBundle } from './mimeBundle.ts';

type TslabDisplay = { data: Record<string, unknown>; transient: { display_id: string | undefined } };

/** Keeps notebooks written for tslab working: `import { display } from 'tslab'` sends through this hook of tslab. */
export function takeTslabDisplay(send: (output: CellOutput) => void): void {
  const hooks = jupyter as { lastWriteDisplayData: unknown };
  hooks.lastWriteDisplayData = ({ data, transient: { display_id: displayId } }: TslabDisplay, isUpdate: boolean) => {
    const shown = { data: jsonBundle(data), metadata: {} };
    // Only outputs of tslab's `newDisplay()` have an id. Other outputs are never updated.
    if (displayId === undefined) send({ type: 'display_data', content: shown });
    else send({ type: isUpdate ? 'update_display_data' : 'display_data', content: { ...shown, displayId } });
  };
}
