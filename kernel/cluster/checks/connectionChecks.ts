import type { Check } from '#cluster/check.ts';
import { pass } from '#cluster/findings.ts';

const whoAmI: Check = {
  id: 'k8s-whoami',
  category: 'connection',
  title: 'The API server knows you',
  severity: 'error',
  needs: [],
  run: async ({ kube }) => {
    const { username, evidence } = await kube.whoami();
    return pass(`You are ${username}.`, evidence);
  },
};

/** From the kubeconfig to an API server that says who we are. */
export const connectionChecks: readonly Check[] = [whoAmI];
