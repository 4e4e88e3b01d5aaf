import assert from 'node:assert/strict';
import { Metrics } from '#engine/serve/metrics.ts';

suite('the metrics of a server', () => {
  const request = { operation: 'QueryTable', status: 200, bytesIn: 10, bytesOut: 1000 };

  test('count requests, bytes and time by operation', () => {
    const metrics = new Metrics();
    for (const seconds of [0.003, 0.2, 400]) {
      metrics.begin();
      metrics.end({ ...request, seconds });
    }
    metrics.begin();
    metrics.end({ ...request, operation: 'DropTable', status: 'cut', seconds: 1, bytesIn: 0, bytesOut: 0 });
    metrics.begin();
    const text = metrics.text(true);
    for (const line of [
      'lance_catalog_requests_total{operation="QueryTable",status="200"} 3',
      'lance_catalog_requests_total{operation="DropTable",status="cut"} 1',
      'lance_catalog_request_duration_seconds_bucket{operation="QueryTable",le="0.005"} 1',
      'lance_catalog_request_duration_seconds_bucket{operation="QueryTable",le="0.25"} 2',
      'lance_catalog_request_duration_seconds_bucket{operation="QueryTable",le="300"} 2',
      'lance_catalog_request_duration_seconds_bucket{operation="QueryTable",le="+Inf"} 3',
      'lance_catalog_request_duration_seconds_count{operation="QueryTable"} 3',
      'lance_catalog_received_bytes_total 30',
      'lance_catalog_sent_bytes_total 3000',
      'lance_catalog_requests_in_flight 1',
      'lance_catalog_ready 1',
    ]) {
      assert.ok(text.split('\n').includes(line), `${line}\nis not in\n${text}`);
    }
  });

  test('are lines of the format that Prometheus reads', () => {
    const metrics = new Metrics();
    metrics.begin();
    metrics.end({ ...request, seconds: 1 });
    const text = metrics.text(false);
    assert.ok(text.endsWith('\n'));
    for (const line of text.trimEnd().split('\n')) {
      assert.match(line, /^(# (HELP|TYPE) [a-z_]+ .+|[a-z_]+(\{[a-z]+="[^"]*"(,[a-z]+="[^"]*")*\})? [0-9.e+-]+)$/);
    }
  });
});
