// The next steps in messages of SQL. They differ by where the user writes SQL, because a step must be possible there.

/** Where the user writes SQL. */
export type SqlCaller = 'notebook' | 'terminal' | 'file';

export type SqlHints = {
  /** What does here what a statement does in other databases, by the first word of the statement. */
  statements: Readonly<Record<string, string>>;
  changeRows: string;
  listTables: string;
  oneQuery: string;
  readFile: string;
  noEngine: string;
};

/** A pivot without its values is more than one query for the engine. */
export const pivotHint =
  'Write select * from (pivot orders on country in (…) using sum(amount)), with the values after in.';

const settings = 'The settings of the SQL engine are fixed; its time zone is UTC.';
const extensions = 'SQL has no extensions here.';
const transaction = 'Each statement is a separate transaction.';
const everywhere = {
  use: 'Write the namespace before the table: shop.products.',
  install: extensions,
  load: extensions,
  set: settings,
  reset: settings,
  pragma: settings,
  begin: transaction,
  commit: transaction,
  pivot: pivotHint,
  unpivot: 'Write select * from (unpivot … on …).',
} as const;

const inNotebook = 'Code of a notebook does that, and lance-catalog run NOTEBOOK runs it:';

const inCell = 'A cell of a notebook does that:';

const hints: Readonly<Record<SqlCaller, SqlHints>> = {
  file: {
    statements: {
      ...everywhere,
      update: `${inCell} await table.update({ where: "id = 1", values: { price: 2 } }).`,
      delete: `${inCell} await table.delete("id = 1").`,
      merge: `${inCell} await table.mergeInsert("id").whenMatchedUpdateAll().execute(rows).`,
      truncate: `${inCell} await table.delete("true").`,
      drop: 'Choose Drop Table… or Drop Namespace… in the catalog view.',
      alter:
        'Choose Rename Table… in the catalog view. A cell of a notebook changes columns: await table.addColumns(…).',
      create: 'Write create table shop.top as select …; New Namespace… in the catalog view creates a namespace.',
      copy: 'To write the rows of a query to a file, use lance-catalog sql "…" -o FILE.',
      export: 'To write the rows of a query to a file, use lance-catalog sql "…" -o FILE.',
      import: 'Read the file in a cell of a notebook, and write its rows to a table.',
      attach: 'Connections of the window are queried by their names: select * from company.shop.orders.',
      rollback: `${inCell} await table.restore(7).`,
      vacuum: 'Choose Optimize Table… in the catalog view.',
      show: 'The catalog view lists the tables.',
    },
    changeRows: 'To add rows, write insert into shop.orders select …; a cell of a notebook changes and deletes rows.',
    listTables: 'The catalog view lists the tables. Write those in namespaces as shop.products or "shop/eu".orders.',
    oneQuery: 'Separate statements with a semicolon.',
    readFile: 'Write the rows of the file to a table in a notebook, and query the table.',
    noEngine: 'Install the package of the extension for your platform.',
  },
  notebook: {
    statements: {
      ...everywhere,
      update: 'To change rows, write await table.update({ where: "id = 1", values: { price: 2 } }).',
      delete: 'To delete rows, write await table.delete("id = 1").',
      merge: 'To merge rows, write await table.mergeInsert("id").whenMatchedUpdateAll().execute(rows).',
      truncate: 'To delete all rows, write await table.delete("true").',
      drop: 'To drop a table, write await db.dropTable("orders", { namespacePath: ["shop"] }); to drop a namespace, db.dropNamespace(["shop"]).',
      alter:
        'To change columns, write await table.addColumns(…), table.alterColumns(…) or table.dropColumns(…); to rename a table, db.renameTable(…).',
      create:
        'Write create table shop.top as select …; for a namespace, await db.createNamespace(["shop"]); for an index, await table.createIndex("id").',
      copy: 'To read or write files, use the code of a cell.',
      export: 'To read or write files, use the code of a cell.',
      import: 'To read or write files, use the code of a cell.',
      attach:
        'Connections of the window are queried by their names: select * from company.shop.orders. Or connect in a cell, const other = await connect("./data"), and query other.shop.orders.',
      rollback: 'To go back to an earlier version, write await table.restore(7).',
      vacuum: 'To compact a table, write await table.optimize().',
      show: 'To list tables, write await db.listTables().',
    },
    changeRows: 'To change rows, write await table.update(…), table.delete("id = 1") or table.add(rows).',
    listTables: 'List the names with db.listTables(). Write tables in namespaces as shop.products or "shop/eu".orders.',
    oneQuery: 'Write one query per cell or sql`…`.',
    readFile: 'Read the file in the code of a cell and query its rows: select * from ${rows}.',
    noEngine: 'Install the package of the extension for your platform, or read tables with table.query().',
  },
  terminal: {
    statements: {
      ...everywhere,
      update: `${inNotebook} await table.update({ where: "id = 1", values: { price: 2 } }).`,
      delete: `${inNotebook} await table.delete("id = 1").`,
      merge: `${inNotebook} await table.mergeInsert("id").whenMatchedUpdateAll().execute(rows).`,
      truncate: `${inNotebook} await table.delete("true").`,
      drop: `${inNotebook} await db.dropTable("orders", { namespacePath: ["shop"] }).`,
      alter: `${inNotebook} await table.addColumns(…), table.alterColumns(…) or table.dropColumns(…).`,
      create: 'Write create table shop.top as select …. Code of a notebook creates namespaces and indexes.',
      copy: 'To write the rows of a query to a file, add -o FILE. To copy a table, use lance-catalog copy.',
      export: 'To write the rows of a query to a file, add -o FILE.',
      import: 'Code of a notebook reads files, and lance-catalog run NOTEBOOK runs it.',
      attach: 'Add --catalog NAME=DIR or --catalog NAME=ADDRESS, and write NAME.shop.orders in the query.',
      rollback: `${inNotebook} await table.restore(7).`,
      vacuum: 'To compact a table, use lance-catalog optimize.',
      show: 'To list tables, use lance-catalog list.',
    },
    changeRows: 'To add rows, write insert into shop.orders select …; code of a notebook changes and deletes rows.',
    listTables: 'List the tables: lance-catalog list. Write tables in namespaces as shop.products or "shop/eu".orders.',
    oneQuery: 'Run the command once for each statement.',
    readFile: 'Write the rows of the file to a table in a notebook, and query the table.',
    noEngine: 'Install the package for your platform.',
  },
};

/** Returns the next steps for a caller. Default: a notebook. */
export const hintsFor = (caller: SqlCaller = 'notebook'): SqlHints => hints[caller];
