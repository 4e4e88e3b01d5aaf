import type { HiddenTexts } from '#cluster/hiddenText.ts';
import type { CredentialSource } from '#cluster/kube/credential.ts';
import { openDefaultCredentials, type DefaultCredentials } from './defaultCredentials.ts';

/**
 * Signs in to a GKE cluster by the application-default credentials, for kubeconfigs that leave it to
 * `gke-gcloud-auth-plugin` where that program is not installed. GKE takes the access token itself as the bearer.
 */
export function gkeCredential({
  hidden,
  oauth2,
}: {
  readonly hidden: HiddenTexts;
  /** Base address of Google's OAuth. */
  readonly oauth2?: string | undefined;
}): CredentialSource {
  let opened: DefaultCredentials | undefined;
  return async (signal) => {
    opened ??= await openDefaultCredentials({ hidden, signal, oauth2 });
    // The library behind keeps a token until it nears its end, and gets a new one then.
    return opened.token(signal);
  };
}
