import type { ClusterError } from '#cluster/errors.ts';
import { settingError, type SettingPath } from './settingPath.ts';

// A profile is in settings, which are synchronised, shared and committed. What looks like a secret is refused there at once,
// and never quoted.

/** Names under which people put secrets. */
const names = /token|passwo?r?d|secret|api_?key|access_?key|private_?key|client_?key|credential|bearer|authorization/i;

/** Shapes of secrets: keys of AWS, tokens, PEM, service account files. */
const shapes =
  /^(?:A[KS]IA[0-9A-Z]{16}|eyJ[\w-]{10,}|ya29\.|k8s-aws-v1\.|gh[pousr]_|AIza|sk-)|-----BEGIN|"private_key"/;

/** Whether a value, or the name that it stands under, is that of a secret. */
export const looksSecret = (value: unknown, name = ''): boolean =>
  names.test(name) || (typeof value === 'string' && shapes.test(value));

export const secretError = (path: SettingPath): ClusterError =>
  settingError(
    path,
    'looks like a secret, and settings are no place for one.',
    'Remove it: credentials come from your kubeconfig, from ~/.aws, from application-default credentials of Google, or from ' +
      'a catalog connection that the profile names.',
  );
