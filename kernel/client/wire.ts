// What both ends of the REST contract need to agree on.

/** The host that a request to the engine process names: it is reached by a path, so the name is a password of sorts. */
export const engineHost = 'lance-engine';

/** The header with the root directory of the catalog, as `encodeURIComponent` of its path. */
export const rootHeader = 'x-lance-root';

/** The header with the settings of the object store that the root is in, as `encodeURIComponent` of JSON. */
export const storageOptionsHeader = 'x-lance-storage-options';

/**
 * What the engine process offers its parent besides the contract: GET says what is wrong with a catalog, POST repairs it.
 * Either answers a `RepairResult` as JSON, or an error of the contract.
 */
export const repairPath = '/repair';

/** `k` of a query that wants every row: the contract requires a number, and readers of it take 32 bits. */
export const noLimit = 2_147_483_647;
