import { catalogVariables } from '#session/catalogArgument.ts';

const { catalog, apiKey, token, database } = catalogVariables;

/** How the catalog that `db` is can be named. */
export const catalogHelp = `  --catalog DIR       the directory that db reads …
  --catalog ADDRESS   … or the https:// address of a catalog server; else the environment variable ${catalog}.
                      For a server ${apiKey} or ${token} lets you in, and
                      ${database} says which database`;
