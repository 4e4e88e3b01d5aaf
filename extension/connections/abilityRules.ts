import type { Capabilities } from '#catalog/catalog.ts';
import type { Operation } from '#catalog/contract.ts';
import { allAbilities, type Ability } from '../explorer/node.ts';

/** The catalog operations that each ability needs. */
const operationsOf: Record<Ability, readonly Operation[]> = {
  createNamespace: ['CreateNamespace'],
  dropNamespace: ['DropNamespace'],
  createTable: ['CreateTable'],
  renameTable: ['RenameTable'],
  // A server without queries has no access to the files of a table.
  optimizeTable: ['OptimizeTable', 'GetTableStats', 'QueryTable'],
  dropTable: ['DropTable'],
};

/** Returns the abilities that a catalog has or may have. */
export const abilitiesOf = (capabilities: Capabilities): ReadonlySet<Ability> =>
  new Set([...allAbilities].filter((ability) => operationsOf[ability].every((one) => capabilities[one] !== 'no')));
