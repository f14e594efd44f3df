// Tile values: the newest value of a key, wherever it is known.
import { expect, test } from 'vitest';
import { newestValue } from './tile-values.ts';
import type { DashboardData } from './use-dashboard-data.ts';
import type { DeviceSeries } from '../../../../../src/dashboards/plan.ts';

const series = { deviceId: 'd', topic: 'default', dataKey: 'battery', order: {} } as DeviceSeries;
const at = (minute: number) => `2026-01-01T00:0${minute}:00.000Z`;
const sample = (minute: number, data: object) => ({
  topic: 'default',
  timestamp: at(minute),
  data,
});

function data(known: Partial<Record<'samples' | 'live', ReturnType<typeof sample>[]>>) {
  return {
    latest: new Map([['d', known.samples ?? []]]),
    live: { get: () => known.live ?? [] },
    lastValues: new Map([
      ['d', { battery: { value: 80, timestamp: at(1), topic: 'default' } }],
      ['other', {}],
    ]),
    series: new Map(),
  } as unknown as DashboardData;
}

test.each([
  ['of the newest sample', { samples: [sample(3, { battery: 70 })] }, 70, 3],
  [
    'of an earlier sample, where the newest lacks the key',
    { samples: [sample(3, { t: 1 })] },
    80,
    1,
  ],
  [
    'of an earlier sample, where the newest has null',
    { samples: [sample(3, { battery: null })] },
    80,
    1,
  ],
  ['of a live sample', { live: [sample(5, { battery: 60 }), sample(6, { t: 1 })] }, 60, 5],
] as const)('contract 38: the value %s', (_what, known, value, minute) => {
  expect(newestValue(series, data(known as never))).toMatchObject({ value, timestamp: at(minute) });
});

test('contract 38: a value of another topic is not that of the tile', () => {
  const other = { ...series, topic: 'boot' };
  expect(newestValue(other, data({}))).toBeUndefined();
});
