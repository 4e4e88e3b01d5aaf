import type { StopReason } from '#engine/pool/queryPool.ts';

/** A finished request, for the counters. */
type RequestMeasurement = {
  /** The name of the operation in the specification, or `other`. */
  operation: string;
  /** `cut` for a response that broke off after its headers, so its status does not show the failure. */
  status: number | 'cut';
  seconds: number;
  bytesIn: number;
  bytesOut: number;
};

/** Upper bounds of the histogram in seconds. They cover everything from a list to a scan of many millions of rows. */
const bounds = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300] as const;

type Histogram = { counts: number[]; sum: number; count: number };

/**
 * Counters of one server in the Prometheus text format. A label never has a name from a request as its value, so that
 * there are few values.
 */
export class Metrics {
  readonly #requests = new Map<string, number>();
  readonly #durations = new Map<string, Histogram>();
  #bytesIn = 0;
  #bytesOut = 0;
  #inFlight = 0;
  readonly #stopped: Record<StopReason, number> = { time: 0, ended: 0 };
  readonly #credentials = { new: 0, reused: 0, failed: 0 };

  get inFlight(): number {
    return this.#inFlight;
  }

  countCredentials(result: 'new' | 'reused' | 'failed'): void {
    this.#credentials[result]++;
  }

  begin(): void {
    this.#inFlight++;
  }

  end({ operation, status, seconds, bytesIn, bytesOut }: RequestMeasurement): void {
    this.#inFlight--;
    const labels = `operation="${operation}",status="${status}"`;
    this.#requests.set(labels, (this.#requests.get(labels) ?? 0) + 1);
    this.#bytesIn += bytesIn;
    this.#bytesOut += bytesOut;
    const histogram = this.#durations.get(operation) ?? { counts: bounds.map(() => 0), sum: 0, count: 0 };
    this.#durations.set(operation, histogram);
    histogram.sum += seconds;
    histogram.count++;
    for (let index = bounds.length - 1; index >= 0 && seconds <= bounds[index]!; index--) histogram.counts[index]!++;
  }

  /** Counts a query that was stopped. */
  stopQuery(reason: StopReason): void {
    this.#stopped[reason]++;
  }

  /** Returns all counters as text; `ready` is the last result of the readiness check. */
  text(ready: boolean): string {
    const { rss, heapUsed, external } = process.memoryUsage();
    const cpu = process.cpuUsage();
    const lines = [
      ...head(
        'lance_catalog_requests_total',
        'counter',
        'Requests by operation and HTTP status. The status is "cut" if the response was incomplete.',
      ),
      ...[...this.#requests].map(([labels, count]) => `lance_catalog_requests_total{${labels}} ${count}`),
      ...head(
        'lance_catalog_request_duration_seconds',
        'histogram',
        'Time from the start of a request to the end of its response.',
      ),
      ...[...this.#durations].flatMap(([operation, histogram]) => bucketsOf(operation, histogram)),
      ...one('lance_catalog_received_bytes_total', 'counter', 'Bytes of request bodies.', this.#bytesIn),
      ...one('lance_catalog_sent_bytes_total', 'counter', 'Bytes of response bodies.', this.#bytesOut),
      ...one('lance_catalog_requests_in_flight', 'gauge', 'Requests in progress.', this.#inFlight),
      ...head(
        'lance_catalog_queries_stopped_total',
        'counter',
        'Queries that took too long ("time"), or whose process ended ("ended"), usually because of its memory limit.',
      ),
      ...Object.entries(this.#stopped).map(
        ([reason, count]) => `lance_catalog_queries_stopped_total{reason="${reason}"} ${count}`,
      ),
      ...head(
        'lance_catalog_credentials_total',
        'counter',
        'Credentials for tables: from a new session of the role ("new"), from a known one ("reused"), or none ("failed").',
      ),
      ...Object.entries(this.#credentials).map(
        ([result, count]) => `lance_catalog_credentials_total{result="${result}"} ${count}`,
      ),
      ...one('lance_catalog_ready', 'gauge', 'Whether the roots could be read at the last check.', ready ? 1 : 0),
      ...one('process_resident_memory_bytes', 'gauge', 'Resident memory.', rss),
      ...one('process_cpu_seconds_total', 'counter', 'CPU time.', (cpu.user + cpu.system) / 1e6),
      ...one('process_start_time_seconds', 'gauge', 'Start time of the process.', Date.now() / 1000 - process.uptime()),
      ...one('nodejs_heap_used_bytes', 'gauge', 'Used JavaScript heap.', heapUsed),
      ...one('nodejs_external_memory_bytes', 'gauge', 'Memory of buffers outside the JavaScript heap.', external),
    ];
    return `${lines.join('\n')}\n`;
  }
}

function bucketsOf(operation: string, { counts, sum, count }: Histogram): string[] {
  const name = 'lance_catalog_request_duration_seconds';
  const label = `operation="${operation}"`;
  return [
    ...bounds.map((bound, index) => `${name}_bucket{${label},le="${bound}"} ${counts[index]}`),
    `${name}_bucket{${label},le="+Inf"} ${count}`,
    `${name}_sum{${label}} ${sum}`,
    `${name}_count{${label}} ${count}`,
  ];
}

const head = (name: string, type: string, help: string): string[] => [
  `# HELP ${name} ${help}`,
  `# TYPE ${name} ${type}`,
];

const one = (name: string, type: string, help: string, value: number): string[] => [
  ...head(name, type, help),
  `${name} ${value}`,
];
