import assert from 'node:assert/strict';
import { createBucket, grantClusterViewer } from '#cluster/gcp/gcloud.ts';
import { type GkeTarget, tokenAudience, workloadPoolOf } from '#cluster/gcp/gkeTarget.ts';
import { profileFor } from '../../../cluster/parts/soundCluster.ts';

const place: GkeTarget = {
  project: 'my-project',
  location: 'europe-west1-b',
  clusterName: 'ray',
  serviceAccount: undefined,
};

suite('The place of a GKE cluster', () => {
  test('names the workload pool of its project, of a project of a domain too', () => {
    assert.equal(workloadPoolOf(place), 'my-project.svc.id.goog');
    assert.equal(workloadPoolOf({ ...place, project: 'example.com:my-project' }), 'my-project.example.com.svc.id.goog');
  });

  test('is what the token service knows its tokens by', () => {
    assert.equal(
      tokenAudience(place),
      'identitynamespace:my-project.svc.id.goog:https://container.googleapis.com/v1/projects/my-project/locations/europe-west1-b/clusters/ray',
    );
  });

  test('puts a bucket in the region of its zone', () => {
    const profile = { ...profileFor('x'), storage: { scheme: 'gs', bucket: 'b', prefix: '' } } as const;
    assert.deepEqual(createBucket(profile, place), {
      kind: 'command',
      command: 'gcloud storage buckets create gs://b --project my-project --location europe-west1',
    });
  });

  test('leaves the account to gcloud where Google did not name it', () => {
    assert.deepEqual(grantClusterViewer(place, undefined), {
      kind: 'command',
      command:
        'gcloud projects add-iam-policy-binding my-project --role roles/container.clusterViewer --member "user:$(gcloud config get-value account)"',
    });
  });
});
