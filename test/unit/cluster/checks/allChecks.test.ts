import assert from 'node:assert/strict';
import { checkIds, checkIdsByCategory } from '#cluster/checkIds.ts';
import { allChecks } from '#cluster/checks/all.ts';
import type { ClusterProfile } from '#cluster/profile.ts';

const methods: readonly ClusterProfile['auth']['configMethod'][] = ['LOCAL', 'EKS_AUTH', 'IN_CLUSTER'];

suite('The checks of a cluster', () => {
  test('are one for each id, in the same order, and none besides', () => {
    assert.deepEqual(
      allChecks.map(({ id }) => id),
      checkIds,
    );
  });

  test('are in the category that their id is in', () => {
    for (const { id, category } of allChecks)
      assert.ok((checkIdsByCategory[category] as readonly string[]).includes(id), `${id} is not in ${category}`);
  });

  test('need only checks that are there, and never themselves through others', () => {
    const byId = new Map(allChecks.map((check) => [check.id, check]));
    const visit = (id: (typeof checkIds)[number], path: readonly string[]): void => {
      assert.ok(!path.includes(id), [...path, id].join(' → '));
      const check = byId.get(id);
      assert.ok(check, `${path.at(-1)} needs ${id}, which is not there.`);
      const others = methods.flatMap(
        (configMethod) => check.alsoNeeds?.({ auth: { configMethod } } as ClusterProfile) ?? [],
      );
      for (const need of [...check.needs, ...others]) visit(need, [...path, id]);
    };
    for (const { id } of allChecks) visit(id, []);
  });

  test('have titles that say what is so, each its own and on one line', () => {
    const titles = allChecks.map(({ title }) => title);
    assert.equal(new Set(titles).size, titles.length);
    // A side bar of usual width shows no more characters, and the distinctive part of a title must not be cut off.
    for (const title of titles) assert.match(title, /^[A-Z][^\n]{5,38}[^.\n]$/);
  });
});
