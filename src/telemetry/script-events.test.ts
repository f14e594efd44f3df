// Lost script threads: one line a minute, each counted.
import { Counter, Histogram, Registry } from 'prom-client';
import { expect, test } from 'vitest';
import { createLog } from './log.ts';
import { scriptEvents } from './events.ts';

test('review reliability 16: lost threads are one line a minute, which says how many were not told', async () => {
  const lines: Record<string, unknown>[] = [];
  const log = createLog('info', { write: (line: string) => void lines.push(JSON.parse(line)) });
  const registers = [new Registry()];
  let now = 0;
  const events = scriptEvents(
    (name, help, labelNames = []) =>
      new Counter({ name, help, labelNames: [...labelNames], registers }),
    (name, help, labelNames = []) =>
      new Histogram({ name, help, labelNames: [...labelNames], registers }),
    log,
    () => now,
  );
  for (now of [0, 10_000, 59_999, 60_000, 60_001]) events.scriptThreadLost(`ended at ${now}`);
  const msg = 'script worker lost; replacing it';
  expect(lines).toMatchObject([
    { level: 'warn', msg, why: 'ended at 0' },
    { level: 'warn', msg, why: 'ended at 60000', untold: 2 },
  ]);
  expect(await registers[0]!.metrics()).toContain('script_worker_restarts_total 5');
});
