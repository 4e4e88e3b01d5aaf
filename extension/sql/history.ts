import * as vscode from 'vscode';
import { oneLine, cutText } from '#shared/format/markup.ts';
import { pickOne } from '../host/ask.ts';
import { logFailure, type Log } from '../host/log.ts';
import { showInformation } from '../host/messages.ts';
import type { PastQuery, State } from '../host/state.ts';
import { readHistory, withQuery } from './sqlRules.ts';

/** Maximum characters of a query in the list. */
const labelChars = 120;

/** The last statements that ran in this workspace. They stay in the workspace's state on this machine. */
export class SqlHistory {
  readonly #state: State;
  readonly #log: Log;

  constructor(state: State, log: Log) {
    this.#state = state;
    this.#log = log;
  }

  get queries(): PastQuery[] {
    return readHistory(this.#state.sqlHistory());
  }

  add(query: PastQuery): void {
    this.#state
      .setSqlHistory(withQuery(this.queries, query))
      .catch((error: unknown) => logFailure(this.#log, 'saving the SQL history', error));
  }

  /** Returns the query that the user picks; `undefined` if the user cancels or there is none. */
  async pick(): Promise<PastQuery | undefined> {
    const { queries } = this;
    if (queries.length === 0) {
      void showInformation('No SQL has run in this workspace yet.');
      return undefined;
    }
    return pickOne(
      'Select a query to open in a new file',
      queries.map((query) => ({
        label: cutText(oneLine(query.text), labelChars),
        description: query.connection,
        detail: new Date(query.at).toLocaleString(vscode.env.language),
        value: query,
      })),
    );
  }
}
