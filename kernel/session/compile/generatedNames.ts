// Names in generated code that the user did not write. They are in a separate file, so that code that uses only these
// names does not load the compiler.

/** Prefix of the notebook variables in generated code. */
export const variablePrefix = '$cell_';
/**
 * The kernel's runtime object in generated code: this object holds variables, loads modules, receives the last value of
 * a cell, and ends interrupted cells.
 */
export const runtimeName = '$kernel';
/** Name of a nameless default export in generated code. */
export const namelessDefault = '$default';
