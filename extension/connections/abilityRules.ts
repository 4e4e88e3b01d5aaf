import type { Capabilities } from '#catalog/catalog.ts';
import type { Operation } from '#catalog/contract.ts';
import { allAbilities, type Ability } from '../explorer/node.ts';

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
