import type { CheckHeader } from './check.ts';
import { allChecks } from './checks/all.ts';

/** Every check in the order of a report, for who lists them before, or without, asking. */
export const listChecks = (): readonly CheckHeader[] =>
  allChecks.map(({ id, category, title, severity, needs, writes }) => ({
    id,
    category,
    title,
    severity,
    needs,
    ...(writes === undefined ? {} : { writes }),
  }));
