import type { Executed, QuestionAnswer } from '#session/threads/coreMessages.ts';
import { colouredTraceback } from './tracebackColours.ts';

/** The content of a reply. Default of `type`: derived from the type of the request. */
export type Reply = { content: Record<string, unknown>; type?: string; metadata?: Record<string, unknown> };

export const failure = (ename: string, evalue: string): Reply => ({
  content: { status: 'error', ename, evalue, traceback: [evalue] },
});

/**
 * Returns the reply to an execution. `started` is the time when the cell started; clients compute the cell's duration
 * from this time.
 */
export function executedReply({ reply, expressions }: Executed, started: string | undefined, engine: string): Reply {
  const metadata = { ...(started !== undefined && { started }), dependencies_met: true, engine, status: reply.status };
  switch (reply.status) {
    case 'ok':
      return {
        metadata,
        content: { status: 'ok', execution_count: reply.executionCount, user_expressions: expressions, payload: [] },
      };
    case 'error': {
      const { ename, evalue, executionCount } = reply;
      return {
        metadata,
        content: {
          status: 'error',
          execution_count: executionCount,
          ename,
          evalue,
          traceback: colouredTraceback(reply),
          user_expressions: expressions,
          payload: [],
        },
      };
    }
    case 'aborted':
      return { metadata, content: { status: 'aborted' } };
  }
}

/** Returns the reply to a question. `asked` is the code of the request. */
export function answeredReply(answer: QuestionAnswer, asked: unknown): Reply {
  const code = typeof asked === 'string' ? asked : '';
  // Jupyter counts code points, but the compiler counts UTF-16 units.
  const characters = (units: number) => Array.from(code.slice(0, units)).length;
  switch (answer.kind) {
    case 'complete': {
      const [start, end] = [characters(answer.start), characters(answer.end)];
      const types = answer.matches.map(({ text, kind, ...more }) => ({ text, type: kind, ...more, start, end }));
      return {
        content: {
          status: 'ok',
          matches: answer.matches.map(({ text }) => text),
          cursor_start: start,
          cursor_end: end,
          metadata: { _jupyter_types_experimental: types },
        },
      };
    }
    case 'inspect':
      return { content: { status: 'ok', found: answer.data !== null, data: answer.data ?? {}, metadata: {} } };
    case 'isComplete':
      return {
        content: { status: answer.status, ...(answer.status === 'incomplete' && { indent: answer.indent }) },
      };
    case 'variables':
      return failure('UnknownRequest', 'Only editors can list variables.');
    case 'picture':
      return failure('UnknownRequest', 'Only editors can request images.');
    case 'table':
    case 'rows':
      return failure('UnknownRequest', 'Only editors can request the tables of outputs.');
    case 'failed':
      return failure('CompilerError', answer.message);
  }
}
