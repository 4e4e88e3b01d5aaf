/** Why a request of the debugger can't be answered, as a sentence for the person. */
export class DebugProblem extends Error {
  override readonly name = 'DebugProblem';
}
