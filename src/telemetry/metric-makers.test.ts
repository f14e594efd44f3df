// Figures: values that no metric can have, such as durations of a clock that stepped back, are no errors.
import { Registry } from 'prom-client';
import { expect, test } from 'vitest';
import { createMetricMakers } from './metric-makers.ts';

test('reliability 1: negative and undefined values never throw into the work that is counted', async () => {
  const registry = new Registry();
  const { counter, histogram } = createMetricMakers(registry);
  const plain = counter('a_total', 'a');
  const labeled = counter('b_total', 'b', ['state']);
  const child = labeled.labels({ state: 'DEAD' });
  const seconds = histogram('c_seconds', 'c', ['kind']);
  for (const bad of [-5, Number.NaN, Infinity, -Infinity]) {
    plain.inc(bad);
    labeled.inc({ state: 'DEAD' }, bad);
    child.inc(bad);
    seconds.observe({ kind: 'run' }, bad);
  }
  plain.inc();
  plain.inc(2);
  labeled.inc({ state: 'DEAD' });
  child.inc(3);
  seconds.observe({ kind: 'run' }, 2);
  const text = await registry.metrics();
  expect(text).toContain('heliograph_a_total 3');
  expect(text).toContain('heliograph_b_total{state="DEAD"} 4');
  expect(text).toContain('heliograph_c_seconds_sum{kind="run"} 2');
  expect(text).toContain('heliograph_c_seconds_count{kind="run"} 5');
});
