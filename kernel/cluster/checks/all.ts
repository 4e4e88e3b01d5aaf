import type { Check } from '#cluster/check.ts';
import { awsChecks } from './awsChecks.ts';
import { catalogChecks } from './catalogChecks.ts';
import { connectionChecks } from './connectionChecks.ts';
import { gcpChecks } from './gcpChecks.ts';
import { identityChecks } from './identityChecks.ts';
import { nodeChecks } from './nodeChecks.ts';
import { profileChecks } from './profileChecks.ts';
import { versionChecks } from './versionChecks.ts';

/** Every check, in the order of a report. */
export const allChecks: readonly Check[] = [
  ...profileChecks,
  ...connectionChecks,
  ...versionChecks,
  ...identityChecks,
  ...nodeChecks,
  ...awsChecks,
  ...gcpChecks,
  ...catalogChecks,
];
