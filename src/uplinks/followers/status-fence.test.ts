// Status fence: what a former owner of a device writes late does not replace what its next owner wrote.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openTestRecords, type TestRecords } from '../../storage/records/testing-records.ts';
import { deviceStateRows, deviceStatusRows } from '../../storage/records/rows/device-status.ts';

let opened: TestRecords;
beforeAll(async () => {
  opened = await openTestRecords();
});
afterAll(() => opened.close());

let devices = 0;

function device() {
  const { db } = opened.records;
  const deviceId = `device-${++devices}`;
  return {
    /** Writes as an owner does at this place; `n` says who it was. */
    async write(n: number, place?: readonly [epoch: number, position: number]) {
      const [epoch = 0, position = 0] = place ?? [];
      const fence = place && (() => ({ epoch, position }));
      await deviceStateRows.save(db, new Map([[deviceId, { n }]]), fence);
      const uplink = { uplinkId: String(n), deviceId, uplinkSize: 1, timestamp: 1_000 };
      await deviceStatusRows.saveMetrics(db, [uplink], undefined, fence);
    },
    async stored() {
      const states = await deviceStateRows.find(db, [deviceId]);
      const metrics = await deviceStatusRows.metrics(db, [deviceId]);
      return [states.get(deviceId)?.['n'], Number(metrics.get(deviceId)?.uplinkId)];
    },
  };
}

test.each<[string, [number, number], [number, number], number]>([
  ['a paused former owner', [2, 10], [1, 99], 1],
  ['the next owner', [1, 99], [2, 10], 2],
  ['an owner that has the device again', [2, 10], [3, 5], 2],
  ['the same owner later', [2, 10], [2, 11], 2],
  ['the same owner once more', [2, 10], [2, 10], 2],
  ['an older batch of the same owner', [2, 10], [2, 9], 1],
])('%s', async (_, first, second, expected) => {
  const { write, stored } = device();
  await write(1, first);
  await write(2, second);
  expect(await stored()).toEqual([expected, expected]);
});

test('the only platform on its records writes without a fence', async () => {
  const { write, stored } = device();
  await write(1, [7, 10]);
  await write(2);
  expect(await stored()).toEqual([2, 2]);
});

test('of a batch, only what is outdated is refused', async () => {
  const { db } = opened.records;
  const ids = Array.from({ length: 250 }, (_, n) => `batch-${n}`);
  const states = (n: number) => new Map(ids.map((id) => [id, { n }]));
  await deviceStateRows.save(db, states(1), () => ({ epoch: 2, position: 1 }));
  const epochOf = (id: string) => (id.endsWith('7') ? 3 : 1);
  await deviceStateRows.save(db, states(2), (id) => ({ epoch: epochOf(id), position: 1 }));
  const written = await deviceStateRows.find(db, ids);
  const newer = ids.filter((id) => written.get(id)?.['n'] === 2);
  expect(newer).toEqual(ids.filter((id) => id.endsWith('7')));
});
