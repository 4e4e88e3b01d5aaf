import { readingOperations, type Operation } from '#client/operations.ts';
import type { Access } from './keys.ts';

/** Whether a key may ask for an operation; one that this server does not know changes nothing. */
export const permits = (access: Access, operation: Operation | undefined): boolean =>
  access === 'read-write' || operation === undefined || readingOperations.has(operation);
