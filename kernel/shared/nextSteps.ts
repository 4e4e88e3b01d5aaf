/**
 * Next steps of errors that name calls of the client. In a notebook they are right as they are; `nextStepIn` has what a
 * user can do in other places.
 */
export const nextSteps = {
  createNamespace: 'Create that namespace first.',
  listBranches: 'List the branches with branches().list().',
  listNamespaces: 'Create it first, or list the existing namespaces.',
  listTables: 'List the tables with listTables().',
  listTags: 'List the tags with tags().list().',
  listVersions: 'List the versions with listVersions().',
  passKey: 'Pass a key: the columns that identify a row.',
} as const;
