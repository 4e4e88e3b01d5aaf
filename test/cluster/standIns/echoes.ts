import type { Came, EchoOptions } from './echoStandIn.ts';

const json = (status: number, value: unknown): { status: number; text: string } => ({
  status,
  text: JSON.stringify(value),
});
const xml = (status: number, text: string): { status: number; type: string; text: string } => ({
  status,
  type: 'text/xml',
  text: `<?xml version="1.0"?>${text}`,
});
const escaped = (text: string): string => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');

/** Errors of a Kubernetes API. */
export const asKubernetes = (status: number): Pick<EchoOptions, 'error'> => ({
  error: (message) => json(status, { kind: 'Status', apiVersion: 'v1', status: 'Failure', message, code: status }),
});

/** Errors as a web page of a proxy. */
export const asPage: Pick<EchoOptions, 'error'> = {
  error: (text) => ({
    status: 502,
    type: 'text/html',
    text: `<html><title>${text}</title><body>${text}</body></html>`,
  }),
};

/** Errors of a server of Lance namespaces. */
export const asCatalog: Pick<EchoOptions, 'error'> = {
  error: (detail) => json(403, { error: detail, code: 10, type: 'PermissionDenied', detail, status: 403 }),
};

/**
 * Errors of Google Cloud. Sign-in of a user and exchange of a cluster's token succeed, so that further tokens are sent.
 */
export const asGoogle = (tokens: { person: string; federated: string }): EchoOptions => ({
  error: (message, { path }) =>
    path.includes('/token')
      ? json(400, { error: 'invalid_request', error_description: message })
      : json(403, { error: { code: 403, message, status: 'PERMISSION_DENIED' } }),
  succeed: ({ path, body }) => {
    if (!path.endsWith('/token')) return undefined;
    const isExchange = body.includes('token-exchange');
    return json(200, {
      access_token: isExchange ? tokens.federated : tokens.person,
      token_type: 'Bearer',
      expires_in: 3600,
      ...(isExchange && { issued_token_type: 'urn:ietf:params:oauth:token-type:access_token' }),
    });
  },
});

/**
 * Errors of AWS. The server returns the caller's identity and lets the caller assume a role. It refuses all other
 * requests.
 */
export const asAws = (role: { secretAccessKey: string; sessionToken: string }): EchoOptions => ({
  error: (message, came) => {
    switch (serviceOf(came)) {
      case 's3':
        return xml(403, `<Error><Code>AccessDenied</Code><Message>${escaped(message)}</Message></Error>`);
      case 'eks':
        return json(403, { __type: 'AccessDeniedException', message });
      default: {
        const error = `<Error><Type>Sender</Type><Code>AccessDenied</Code><Message>${escaped(message)}</Message></Error>`;
        return xml(403, `<ErrorResponse>${error}<RequestId>1</RequestId></ErrorResponse>`);
      }
    }
  },
  succeed: ({ body }) => {
    const action = new URLSearchParams(body).get('Action');
    const reply = (result: string) =>
      xml(200, `<${action}Response><${action}Result>${result}</${action}Result></${action}Response>`);
    if (action === 'GetCallerIdentity')
      return reply('<Arn>arn:aws:iam::123456789012:user/alice</Arn><UserId>A</UserId><Account>123456789012</Account>');
    if (action !== 'AssumeRole' && action !== 'AssumeRoleWithWebIdentity') return undefined;
    const { secretAccessKey, sessionToken } = role;
    const keys = `<AccessKeyId>ASIAROLEOFTESTS00000</AccessKeyId><SecretAccessKey>${secretAccessKey}</SecretAccessKey>`;
    const until = `<Expiration>${new Date(Date.now() + 3_600_000).toISOString()}</Expiration>`;
    return reply(`<Credentials>${keys}<SessionToken>${sessionToken}</SessionToken>${until}</Credentials>`);
  },
});

/** Returns the service for which a request is signed. */
const serviceOf = ({ headers }: Came): string =>
  /Credential=[^/]+\/\d+\/[^/]+\/(\w+)\/aws4_request/.exec(headers)?.[1] ?? 'sts';
