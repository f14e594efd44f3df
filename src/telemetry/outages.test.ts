// Outages: lines and metrics of servers that do not answer, and what other errors become.
import { expect, test } from 'vitest';
import { createTelemetry } from './events.ts';
import { createLog } from './log.ts';

class Lost extends Error {}

function watched() {
  const lines: Record<string, unknown>[] = [];
  const log = createLog('info', { write: (line) => void lines.push(JSON.parse(line)) });
  const timers = new Set<() => void>();
  const telemetry = createTelemetry(log, (task) => {
    timers.add(task);
    return () => void timers.delete(task);
  });
  let answers: () => Promise<unknown> = () => Promise.reject(new Error('not yet'));
  telemetry.outages.watch((error) =>
    error instanceof Lost
      ? { name: 'PostgreSQL', place: 'db:5432', ask: () => answers() }
      : undefined,
  );
  return {
    lines,
    telemetry,
    async askAgain(answer: () => Promise<unknown>) {
      answers = answer;
      for (const task of timers) task();
      await new Promise((resolve) => void setImmediate(resolve));
    },
    told: () => lines.map(({ level, msg, server }) => [level, msg, server]),
  };
}

const down = ['warn', 'server down', 'PostgreSQL'];
const back = ['info', 'server back', 'PostgreSQL'];

test('reliability 2: an outage has one line when it begins and one when it ends', async () => {
  const { lines, telemetry, askAgain, told } = watched();
  const { outages } = telemetry;
  for (let i = 0; i < 50; i++)
    telemetry.backgroundFailed(
      'renewing leases',
      new Error('outer', { cause: new Lost('ECONNREFUSED') }),
    );
  telemetry.backgroundFailed('queueing', new AggregateError([new Error('one'), new Lost('x')], ''));
  expect(told()).toEqual([down]);
  expect(lines[0]).toMatchObject({ place: 'db:5432', reason: 'ECONNREFUSED' });
  expect(outages.since('PostgreSQL')).toBeGreaterThan(0);
  expect((await telemetry.metrics()).text).toContain(
    'heliograph_server_down{server="PostgreSQL"} 1',
  );
  await askAgain(() => Promise.reject(new Error('not yet')));
  expect(told()).toEqual([down]);
  await askAgain(() => Promise.resolve());
  expect(told()).toEqual([down, back]);
  expect(outages.since('PostgreSQL')).toBeUndefined();
  expect((await telemetry.metrics()).text).not.toContain('server="PostgreSQL"');
  telemetry.backgroundFailed('renewing leases', new Lost('again'));
  expect(told()).toEqual([down, back, down]);
  outages.close();
  await askAgain(() => Promise.resolve());
  expect(told()).toEqual([down, back, down]);
});

test('reliability 2: other errors keep their lines, also during an outage', () => {
  const { telemetry, told } = watched();
  telemetry.backgroundFailed('renewing leases', new Lost('ECONNREFUSED'));
  telemetry.backgroundFailed('delivering', new Error('a fault'));
  expect(told()).toEqual([down, ['error', 'background task failed', undefined]]);
});
