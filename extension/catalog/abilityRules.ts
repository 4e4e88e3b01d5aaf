import type { Capabilities } from '#client/capabilities.ts';
import type { Operation } from '#client/operations.ts';
import { allAbilities, type Ability } from './node.ts';

/** The operation that a command of the tree ends in. */
export const operationOf: Record<Ability, Operation> = {
  createNamespace: 'CreateNamespace',
  dropNamespace: 'DropNamespace',
  createTable: 'CreateTable',
  renameTable: 'RenameTable',
  dropTable: 'DropTable',
};

/** What a catalog can do of what the tree offers; what is not known yet is offered. */
export const abilitiesOf = (capabilities: Capabilities): ReadonlySet<Ability> =>
  new Set([...allAbilities].filter((ability) => capabilities[operationOf[ability]] !== 'no'));
