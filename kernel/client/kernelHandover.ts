import type { KernelOutput } from '#shared/kernelMessages.ts';

/** Takes the outputs of a run, keeps them until somebody wants them, and what that one's listener throws. */
export type Handover = {
  readonly take: (output: KernelOutput) => void;
  readonly give: (listener: (output: KernelOutput) => void) => void;
  readonly failed: readonly unknown[];
};

/** A handover that nobody has taken yet. */
export function handover(): Handover {
  const failed: unknown[] = [];
  let kept: KernelOutput[] = [];
  let listen: ((output: KernelOutput) => void) | undefined;
  const take = (output: KernelOutput): void => {
    if (!listen) return void kept.push(output);
    try {
      listen(output);
    } catch (error) {
      failed.push(error);
    }
  };
  return {
    take,
    give: (listener) => {
      listen = listener;
      const early = kept;
      kept = [];
      early.forEach(take);
    },
    failed,
  };
}
