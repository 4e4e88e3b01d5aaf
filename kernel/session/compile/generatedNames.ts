// Names that generated code has besides those that the person wrote. Apart from what makes that code, for a reader of them
// needs no compiler.

/** What the names of variables of the notebook begin with in generated code. */
export const variablePrefix = '$cell_';
/** The kernel's part of generated code: gives variables, loads modules, takes the last value, ends what was interrupted. */
export const runtimeName = '$kernel';
/** What a default export without a name is called in generated code. */
export const namelessDefault = '$default';
