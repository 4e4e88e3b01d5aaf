import { isIP } from 'node:net';

/** Removes the brackets of an IPv6 host in a URL. */
export const withoutBrackets = (hostname: string): string => hostname.replace(/^\[(.*)\]$/, '$1');

/** Whether a host is this machine: `localhost`, 127.0.0.0/8, ::1. */
export function isThisMachine(hostname: string): boolean {
  const host = withoutBrackets(hostname).toLowerCase();
  if (host === 'localhost' || host.endsWith('.localhost') || host === '::1') return true;
  return isIP(host) === 4 && host.startsWith('127.');
}
