import type { Check } from '#cluster/check.ts';
import { checkIds } from '#cluster/checkIds.ts';
import { awsChecks } from './awsChecks.ts';
import { catalogChecks } from './catalogChecks.ts';
import { connectionChecks } from './connectionChecks.ts';
import { gcpChecks } from './gcpChecks.ts';
import { identityChecks } from './identityChecks.ts';
import { nodeChecks } from './nodeChecks.ts';
import { profileChecks } from './profileChecks.ts';
import { versionChecks } from './versionChecks.ts';

const order = new Map(checkIds.map((id, index) => [id, index]));
const placeOf = ({ id }: Check): number => order.get(id) ?? checkIds.length;

/** Every check, in the order of a report, which is that of their ids: files go by what they ask. */
export const allChecks: readonly Check[] = [
  ...profileChecks,
  ...connectionChecks,
  ...versionChecks,
  ...identityChecks,
  ...nodeChecks,
  ...awsChecks,
  ...gcpChecks,
  ...catalogChecks,
].toSorted((a, b) => placeOf(a) - placeOf(b));
