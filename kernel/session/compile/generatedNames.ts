// Names in generated code that the user did not write. They are in a separate file, because code that reads them does
// not need the compiler.

/** Prefix of the notebook variables in generated code. */
export const variablePrefix = '$cell_';
/**
 * The kernel's runtime object in generated code: it holds variables, loads modules, takes the last value, ends
 * interrupted cells.
 */
export const runtimeName = '$kernel';
/** Name of a nameless default export in generated code. */
export const namelessDefault = '$default';
