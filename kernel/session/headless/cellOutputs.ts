import { colouredTraceback } from '#session/jupyter/tracebackColours.ts';
import type { KernelOutput, MimeBundle } from '#shared/protocol/kernelMessages.ts';

type Shown = { data: MimeBundle; metadata: Record<string, unknown> };

export type CellOutput =
  | { output_type: 'stream'; name: 'stdout' | 'stderr'; text: string }
  | ({ output_type: 'display_data' } & Shown)
  | ({ output_type: 'execute_result'; execution_count: number } & Shown)
  | { output_type: 'error'; ename: string; evalue: string; traceback: string[] };

/** Outputs of all cells of a run, by display id. A later cell can update an output of an earlier cell. */
export type Places = Map<string, Set<Shown>>;

/** Collects the outputs of one cell as a client would show them. */
export class CellOutputs {
  readonly list: CellOutput[] = [];
  readonly #places: Places;
  #clearsNext = false;

  constructor(places: Places) {
    this.#places = places;
  }

  take(output: KernelOutput): void {
    switch (output.type) {
      case 'stream':
        return this.#print(output.content.name, output.content.text);
      case 'display_data': {
        const { data, metadata, displayId } = output.content;
        return this.#show({ output_type: 'display_data', data, metadata }, displayId);
      }
      case 'execute_result': {
        const { data, metadata, executionCount } = output.content;
        return this.#show({ output_type: 'execute_result', execution_count: executionCount, data, metadata });
      }
      case 'update_display_data': {
        const { data, metadata, displayId } = output.content;
        for (const place of this.#places.get(displayId) ?? []) Object.assign(place, { data, metadata });
        return;
      }
      case 'error':
        // The traceback keeps its color codes, as in Jupyter, because the program that opens the file renders the
        // colors.
        return this.#add({ output_type: 'error', ...output.content, traceback: colouredTraceback(output.content) });
      case 'clear_output':
        this.#clearsNext = output.content.wait;
        if (!output.content.wait) this.list.length = 0;
        return;
      case 'status':
      case 'execute_input':
        return;
    }
  }

  #print(name: 'stdout' | 'stderr', text: string): void {
    const last = this.#clearsNext ? undefined : this.list.at(-1);
    if (last?.output_type === 'stream' && last.name === name) last.text += text;
    else this.#add({ output_type: 'stream', name, text });
  }

  #show(output: CellOutput & Shown, displayId?: string): void {
    if (displayId !== undefined) {
      const places = this.#places.get(displayId) ?? new Set();
      this.#places.set(displayId, places.add(output));
    }
    this.#add(output);
  }

  #add(output: CellOutput): void {
    if (this.#clearsNext) this.list.length = 0;
    this.#clearsNext = false;
    this.list.push(output);
  }
}
