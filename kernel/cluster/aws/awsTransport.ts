/** Milliseconds. An AWS check has 20 seconds, which is enough for a request with these timeouts and one retry. */
const timeouts = { connectionTimeout: 3_000, requestTimeout: 6_000, throwOnRequestTimeout: true };

/** Time limits: `requestTimeout` limits a whole request, and `socketTimeout` limits the time without data transfer. */
type AwsTimeouts = {
  readonly connectionTimeout: number;
  readonly requestTimeout?: number;
  readonly throwOnRequestTimeout?: boolean;
  readonly socketTimeout?: number;
};

/**
 * Returns the transport of requests to AWS. The SDK ignores `HTTPS_PROXY` and `NO_PROXY`, so Node's own agents are
 * used. From Node 24.5 on, the agents apply the proxy variables in `proxyEnv`.
 */
export function awsTransport(env: NodeJS.ProcessEnv = process.env, limits: AwsTimeouts = timeouts) {
  const agent = { keepAlive: true, maxSockets: 50, proxyEnv: env };
  return { ...limits, httpAgent: agent, httpsAgent: agent };
}
