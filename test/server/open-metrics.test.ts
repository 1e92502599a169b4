/** The form of the metrics. test/tools/open-metrics.test.ts has the reference parser judge all of them. */
import { expect, test } from 'vitest';
import { openMetricsText } from '../../server/metrics/open-metrics.ts';

test('the text of metrics has a type, a unit, help and samples for each family, and an end', () => {
  const text = openMetricsText([
    { name: 'a_seconds', type: 'gauge', help: 'a "b"\nc\\', samples: [{ value: 0.5 }] },
    { name: 'requests', type: 'counter', help: 'd', samples: [{ labels: { x: '"\n\\' }, value: 3 }] },
    { name: 'nothing', type: 'gauge', help: 'e', samples: [] },
  ]);
  expect(text).toBe(
    [
      '# TYPE a_seconds gauge',
      '# UNIT a_seconds seconds',
      '# HELP a_seconds a \\"b\\"\\nc\\\\',
      'a_seconds 0.5',
      '# TYPE requests counter',
      '# HELP requests d',
      'requests_total{x="\\"\\n\\\\"} 3',
      '# TYPE nothing gauge',
      '# HELP nothing e',
      '# EOF',
      '',
    ].join('\n'),
  );
});
