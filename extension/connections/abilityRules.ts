import type { Capabilities } from '#catalog/catalog.ts';
import type { Operation } from '#catalog/contract.ts';
import { allAbilities, type Ability } from '../explorer/node.ts';

/** The catalog operation behind each ability. */
const operationOf: Record<Ability, Operation> = {
  createNamespace: 'CreateNamespace',
  dropNamespace: 'DropNamespace',
  createTable: 'CreateTable',
  renameTable: 'RenameTable',
  optimizeTable: 'OptimizeTable',
  dropTable: 'DropTable',
};

/** Returns the abilities that a catalog has or may have. */
export const abilitiesOf = (capabilities: Capabilities): ReadonlySet<Ability> =>
  new Set([...allAbilities].filter((ability) => capabilities[operationOf[ability]] !== 'no'));
