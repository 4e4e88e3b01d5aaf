/** Milliseconds: a check has ten seconds, in which one more try should fit. */
const timeouts = { connectionTimeout: 3_000, requestTimeout: 6_000, throwOnRequestTimeout: true };

/** How long a request may take: as a whole, or while nothing moves. */
type AwsTimeouts = {
  readonly connectionTimeout: number;
  readonly requestTimeout?: number;
  readonly throwOnRequestTimeout?: boolean;
  readonly socketTimeout?: number;
};

/**
 * How requests to AWS travel. The SDK knows nothing of `HTTPS_PROXY` and `NO_PROXY`; Node's own agents do when they are told,
 * from 24.5 on.
 */
export function awsTransport(env: NodeJS.ProcessEnv = process.env, limits: AwsTimeouts = timeouts) {
  const agent = { keepAlive: true, maxSockets: 50, proxyEnv: env };
  return { ...limits, httpAgent: agent, httpsAgent: agent };
}
