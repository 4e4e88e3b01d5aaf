import type { History, HistoryEntry } from '#session/history/history.ts';

/** The entries that a `history_request` asks for; with `output`, an entry's code becomes a pair of code and result. */
export function historyOf(history: History, content: Record<string, unknown>): unknown[] {
  const entries = select(history, content);
  if (content['output'] !== true) return entries;
  return entries.map((entry) => [entry[0], entry[1], [entry[2], history.resultOf(entry)]]);
}

function select(history: History, content: Record<string, unknown>): HistoryEntry[] {
  const whole = (name: string): number | undefined => {
    const value = content[name];
    return typeof value === 'number' && Number.isSafeInteger(value) ? value : undefined;
  };
  switch (content['hist_access_type']) {
    case 'tail':
      return history.tail(whole('n') ?? 10);
    case 'range':
      return history.range(whole('session') ?? 0, whole('start') ?? 0, whole('stop') ?? null);
    case 'search': {
      const n = whole('n');
      const pattern = typeof content['pattern'] === 'string' ? content['pattern'] : '*';
      return history.search(pattern, { ...(n !== undefined && { n }), unique: content['unique'] === true });
    }
    default:
      return [];
  }
}
