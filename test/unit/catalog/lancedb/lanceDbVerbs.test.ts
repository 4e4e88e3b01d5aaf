import assert from 'node:assert/strict';
import { BooleanQuery, BoostQuery, MatchQuery, MultiMatchQuery, PhraseQuery } from '#catalog/query/fullTextQuery.ts';
import { Index } from '#catalog/lancedb/indexConfig.ts';
import {
  unsupportedBranchCalls,
  unsupportedCatalogCalls,
  unsupportedTableCalls,
} from '#catalog/lancedb/unsupported.ts';
import { MergeInsert } from '#catalog/table/mergeInsert.ts';
import { Query } from '#catalog/query/query.ts';
import { RestCatalog } from '#catalog/rest/restCatalog.ts';
import { RestTable } from '#catalog/rest/restTable.ts';
import { RestBranches, RestTags } from '#catalog/rest/versions.ts';
import { DirCatalog } from '#engine/dir/dirCatalog.ts';
import { DirTable } from '#engine/dir/dirTable.ts';
import * as preload from '#session/preload.ts';
import { lanceDbVerbs } from '../../../../scripts/generate/lanceDbVerbs.ts';
import { embeddingExports, ownEmbeddingExports, ownExports, packageExports, packageMembers } from './packageMembers.ts';

/** Query classes of the package. The list has their methods under `Query`. */
const queryClasses = new Set(['AutoQuery', 'QueryBase', 'TakeQuery', 'VectorQuery']);

function entryOf(member: string): string {
  const [owner = '', method] = member.split('.');
  if (queryClasses.has(owner)) return method === undefined ? 'Query' : `Query.${method}`;
  const how = lanceDbVerbs[owner]?.how;
  return how === 'instead' ? owner : member;
}

/** For each class of LanceDB's package, the objects of this client that have its methods. */
const implementations: Readonly<Record<string, readonly object[]>> = {
  Connection: [DirCatalog.prototype, RestCatalog.prototype],
  Table: [DirTable.prototype, RestTable.prototype],
  Query: [Query.prototype],
  MergeInsertBuilder: [MergeInsert.prototype],
  Index: [Index],
  Branches: [RestBranches.prototype],
  Tags: [RestTags.prototype],
  BooleanQuery: [BooleanQuery.prototype],
  BoostQuery: [BoostQuery.prototype],
  MatchQuery: [MatchQuery.prototype],
  MultiMatchQuery: [MultiMatchQuery.prototype],
  PhraseQuery: [PhraseQuery.prototype],
};

const refused: Readonly<Record<string, object>> = {
  Connection: unsupportedCatalogCalls,
  Table: unsupportedTableCalls,
  Branches: unsupportedBranchCalls,
};

suite("The list of the verbs of LanceDB's package", () => {
  const members = packageMembers();

  test('has every value and method of the installed package', () => {
    assert.ok(members.length > 200, `${members.length} members`);
    const unnamed = members.filter((member) => lanceDbVerbs[entryOf(member)] === undefined);
    assert.deepEqual(unnamed, []);
  });

  test('has nothing that the package does not have', () => {
    const named = new Set(members.map((member) => entryOf(member)));
    assert.deepEqual(
      Object.keys(lanceDbVerbs).filter((name) => !named.has(name)),
      [],
    );
  });

  test('is true of methods', () => {
    const untrue = Object.entries(lanceDbVerbs).flatMap(([name, { how }]) => {
      const [owner = '', method] = name.split('.');
      if (method === undefined || method === 'name') return [];
      const has = (implementations[owner] ?? []).map((object) => method in object);
      const isRefused = method in (refused[owner] ?? {});
      if (!has.every(Boolean)) return [`${name} does not exist`];
      const isInstead = how === 'instead';
      return owner in refused && isRefused !== isInstead ? [`${name} is ${isRefused ? '' : 'not '}refused`] : [];
    });
    assert.deepEqual(untrue, []);
  });

  test('is true of exports', () => {
    assert.deepEqual(
      packageExports('value').filter((name) => !(name in preload)),
      [],
    );
  });
});

const call = (value: unknown): unknown => (value as () => unknown)();
const construct = (value: unknown): object => new (value as new () => object)();

suite("The exports of LanceDB's package", () => {
  for (const kind of ['type', 'value'] as const) {
    test(`exist here as a ${kind}`, () => {
      const [wanted, own] = [packageExports(kind), new Set(ownExports(kind))];
      assert.ok(wanted.length > 40, `${wanted.length} names`);
      assert.deepEqual(
        wanted.filter((name) => !own.has(name)),
        [],
      );
    });

    test(`of embedding functions exist here as a ${kind}`, () => {
      const [wanted, own] = [embeddingExports(kind), new Set(ownEmbeddingExports(kind))];
      assert.ok(wanted.length > 8, `${wanted.length} names`);
      assert.deepEqual(
        wanted.filter((name) => !own.has(name)),
        [],
      );
    });
  }

  test('that this client does not have name what to use instead', () => {
    const { OAuthFlowType, Scannable, VectorColumnOptions, embedding, permutationBuilder } = preload;
    assert.throws(() => construct(VectorColumnOptions), /no class "VectorColumnOptions".*plain object/);
    assert.throws(() => call((Scannable as unknown as Record<string, unknown>)['fromTable']), /async iterable/);
    assert.throws(() => (OAuthFlowType as unknown as Record<string, unknown>)['ClientCredentials'], /token/);
    assert.throws(() => call(permutationBuilder), /no permutationBuilder\(\)/);
    assert.throws(() => call(embedding.LanceSchema), /compute the vectors/);
  });
});
