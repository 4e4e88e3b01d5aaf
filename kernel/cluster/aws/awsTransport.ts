/** Milliseconds. A check has ten seconds. That is enough for these timeouts and a retry. */
const timeouts = { connectionTimeout: 3_000, requestTimeout: 6_000, throwOnRequestTimeout: true };

/** Time limits for a whole request, or for the time without data transfer. */
type AwsTimeouts = {
  readonly connectionTimeout: number;
  readonly requestTimeout?: number;
  readonly throwOnRequestTimeout?: boolean;
  readonly socketTimeout?: number;
};

/**
 * Returns the transport of requests to AWS. The SDK ignores `HTTPS_PROXY` and `NO_PROXY`, so Node's own agents are
 * used. The agents handle these variables with the option `proxyEnv`, from Node 24.5 on.
 */
export function awsTransport(env: NodeJS.ProcessEnv = process.env, limits: AwsTimeouts = timeouts) {
  const agent = { keepAlive: true, maxSockets: 50, proxyEnv: env };
  return { ...limits, httpAgent: agent, httpsAgent: agent };
}
