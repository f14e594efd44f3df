// Interface 4.6 against a whole platform: occupancy, normalised to the working hours of the workspace.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startWorld, type TestDevice, type World } from '../world/world.ts';

let world: World;
let device: TestDevice;

beforeAll(async () => {
  world = await startWorld();
  device = await world.device();
  // Monday 2 March 2026 in Zurich: one value before work, two at work, one empty slot.
  for (const [time, occupied] of [
    ['06:50', true],
    ['07:00', true],
    ['09:30', 1],
    ['09:40', false],
  ] as const) {
    await world.capture(device, { occupied }, { timestamp: `2026-03-02T${time}:00Z` });
  }
});

afterAll(() => world.close());

async function occupancy(source: string): Promise<number | null> {
  const answer = await world.must('POST', `/v3/devices/${device.id}/query/${source}/kpi`, {
    topic: 'default',
    dataKey: 'occupied',
    accumulator: 'OCCUPANCY',
    interval: { from: '2026-03-01T23:00:00Z', to: '2026-03-02T23:00:00Z' },
  });
  return answer.kpi;
}

async function configure(settings: object): Promise<void> {
  const id = world.workspaceId;
  const { name } = await world.must('GET', `/v3/workspaces/${id}`);
  await world.must('PUT', `/v3/workspaces/${id}`, { id, name, settings });
}

const workingHours = { enabled: true, days: { MONDAY: [{ from: '08:00', to: '16:00' }] } };

test.each(['raw', 'aggregated/hourly'])(
  'occupancy from %s counts all slots, or those of working hours',
  async (source) => {
    await configure({ timezone: null, workingHours: null, holidays: null });
    expect(await occupancy(source)).toBeCloseTo((3 / 288) * 100, 9);
    await configure({ timezone: 'Europe/Zurich', workingHours });
    expect(await occupancy(source)).toBeCloseTo((2 / 96) * 100, 9);
    await configure({
      timezone: 'Europe/Zurich',
      workingHours,
      holidays: [{ date: '2026-03-02', name: 'Own day' }],
    });
    expect(await occupancy(source)).toBeNull();
  },
);

test('interface 4.6: an unknown accumulator is a 400 that lists the valid ones', async () => {
  const asked = {
    topic: 'default',
    dataKey: 'occupied',
    accumulator: 'UNKNOWN',
    interval: { from: '2026-01-01', to: '2026-01-02' },
  };
  const { status, body } = await world.call(
    'POST',
    `/v3/devices/${device.id}/query/raw/kpi`,
    asked,
  );
  expect([status, body.errorCode]).toEqual([400, '40033_UNKNOWN_ACCUMULATOR']);
  expect(body.message).toContain(
    'DISTINCT_COUNT, MATCHED_COUNT, UNMATCHED_COUNT, OCCUPANCY, STDDEV',
  );
  expect(body.message).toContain('TIME_IN_STATE, P0 to P100, NONE');
});
