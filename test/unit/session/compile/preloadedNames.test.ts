import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import ts from 'typescript-6';
import { namesOf } from '#session/compile/cellNames.ts';
import { prelude } from '#session/compile/prelude.ts';
import { inRoot } from '../../../../scripts/paths.ts';

const parse = (text: string): ts.SourceFile => ts.createSourceFile('some.ts', text, ts.ScriptTarget.Latest, true);

/** Returns the values that a module exports by name, in the order of its text. */
function exportedValues(text: string): string[] {
  return parse(text).statements.flatMap((statement) => {
    if (ts.isVariableStatement(statement)) return namesOf(statement);
    if (!ts.isExportDeclaration(statement)) return [];
    const { exportClause: clause } = statement;
    if (statement.isTypeOnly || !clause) return [];
    return ts.isNamespaceExport(clause)
      ? [clause.name.text]
      : clause.elements.filter((each) => !each.isTypeOnly).map((each) => each.name.text);
  });
}

/** Names for code that imports them from LanceDB's package, with hints of what to use instead. */
const ofLanceDb = exportedValues(readFileSync(inRoot('kernel/catalog/lancedb/unsupportedModules.ts'), 'utf8'));

suite('The names that every notebook has', () => {
  const preloaded = parse(prelude).statements.flatMap(namesOf);

  test('are those that README lists', () => {
    const readme = readFileSync(inRoot('README.md'), 'utf8');
    const [, list = ''] = /`db` is the catalog chosen for the notebook\. Cells also have ([^.]*)\./.exec(readme) ?? [];
    const listed = [...list.matchAll(/`(\w+)`/g)].map(([, name = '']) => name);
    assert.deepEqual(['db', ...listed].toSorted(), preloaded.toSorted());
  });

  test('are exports of the module "lance-catalog", but for db', () => {
    const exported = exportedValues(readFileSync(inRoot('kernel/session/preload.ts'), 'utf8'));
    const missing = preloaded.filter((name) => name !== 'db' && !exported.includes(name));
    assert.deepEqual(missing, []);
    // These names are useful only with an import of the module, so notebooks can use them for other things.
    const others = exported.filter((name) => !preloaded.includes(name) && !ofLanceDb.includes(name));
    const values = ['Decimal', 'Duration', 'Time', 'Timestamp'];
    const only = [
      'FullTextQueryType',
      'Occur',
      'Operator',
      'Query',
      'RRFReranker',
      'isCatalogError',
      'packBits',
      'rerankers',
      'rrf',
    ];
    const queries = ['BooleanQuery', 'BoostQuery', 'MatchQuery', 'MultiMatchQuery', 'PhraseQuery'];
    const classes = ['AutoQuery', 'MergeInsertBuilder', 'QueryBase', 'TakeQuery', 'VectorQuery'];
    const typesOnly = ['Branches', 'Table', 'Tags'];
    assert.deepEqual(others.toSorted(), [...values, ...only, ...queries, ...classes, ...typesOnly].toSorted());
  });
});
