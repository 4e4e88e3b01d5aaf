/** Removes the parts of a URL that may hold credentials: user, password, query and fragment. */
export function withoutUrlSecrets(location: string): string {
  if (!/^[a-z][a-z0-9+.-]+:\/\//i.test(location)) return location;
  return location.replace(/[?#].*$/s, '').replace(/^([^/]+:\/\/)[^/]*@/, '$1');
}
