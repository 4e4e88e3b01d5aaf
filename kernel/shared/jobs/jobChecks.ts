import { isBackfillRequest, isComputedFunction, isJobView, isRunnerName, isTableReference } from './jobShapes.ts';
import type { JobsHostMethods, JobsMethods } from './jobMessages.ts';
import { allOf, anyOf, isCount, isText, listOf, oneOf, optional, shape, type Check } from './shapes.ts';

const isFunctionSource = allOf(
  shape({ name: optional(isText), version: optional(isText) }),
  anyOf(
    shape({ kind: oneOf('sql'), expression: isText }),
    shape({ kind: oneOf('typescript'), file: isText, export: optional(isText) }),
    shape({
      kind: oneOf('python'),
      file: isText,
      entry: isText,
      takes: oneOf('row', 'batch'),
      inputs: listOf(isText),
      output: isText,
    }),
  ),
);

const isNothing = oneOf(null);
const onId = shape({ id: isText });

/** What must be true of the parameters of a request to the jobs process before it is answered. */
export const jobsChecks: { readonly [K in keyof JobsMethods]: Check } = {
  readFunction: shape({ table: isTableReference, column: isText, source: isFunctionSource }),
  register: shape({ table: isTableReference, column: isText, function: isComputedFunction }),
  computedColumns: shape({ table: isTableReference }),
  accept: shape({ hash: isText }),
  isAccepted: shape({ hash: isText }),
  plan: isBackfillRequest,
  try: isBackfillRequest,
  start: isBackfillRequest,
  list: isNothing,
  log: shape({ id: isText, from: isCount }),
  cancel: onId,
  resume: shape({ id: isText, request: optional(isBackfillRequest), runner: optional(isRunnerName) }),
  remove: onId,
  watch: isNothing,
};

/** What must be true of what the jobs process tells an editor. */
export const jobsHostChecks: { readonly [K in keyof JobsHostMethods]: Check } = {
  ready: isNothing,
  jobsChanged: shape({ changed: listOf(isJobView), removed: listOf(isText) }),
};
