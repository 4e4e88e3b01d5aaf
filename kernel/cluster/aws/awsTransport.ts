/** Milliseconds: a check has ten seconds, in which one more try should fit. */
const timeouts = { connectionTimeout: 3_000, requestTimeout: 6_000, throwOnRequestTimeout: true };

/**
 * How requests to AWS travel. The SDK knows nothing of `HTTPS_PROXY` and `NO_PROXY`; Node's own agents do when they are told,
 * from 24.5 on.
 */
export function awsTransport(env: NodeJS.ProcessEnv = process.env) {
  const agent = { keepAlive: true, maxSockets: 50, proxyEnv: env };
  return { ...timeouts, httpAgent: agent, httpsAgent: agent };
}
