// Name counts keep what was set for each device, and a reused slot keeps nothing of the device before.
import { expect, test } from 'vitest';
import { NameCounts } from './device-names.ts';

test('fleet 5: counts and the last four signatures of each device', () => {
  const counts = new NameCounts(10_000);
  for (let n = 0; n < 5_000; n++) {
    const slot = counts.add(`d${n}`);
    counts.setCounts(slot, n, n * 2);
    for (let i = 1; i <= 1 + (n % 6); i++) counts.addRecent(slot, n * 10 + i);
  }
  for (let n = 0; n < 5_000; n++) {
    const slot = counts.find(`d${n}`)!;
    expect([counts.topics(slot), counts.keys(slot)]).toEqual([n, n * 2]);
    const last = 1 + (n % 6);
    const known = [1, 2, 3, 4, 5, 6].filter((i) => counts.hasRecent(slot, n * 10 + i));
    expect(known).toEqual([1, 2, 3, 4, 5, 6].filter((i) => i <= last && i > last - 4));
  }
  expect(counts.find('unknown')).toBeUndefined();
});

test('fleet 5: at the limit, devices in turn are still known', () => {
  const counts = new NameCounts(400);
  let known = 0;
  for (let round = 0; round < 10; round++) {
    for (let n = 0; n < 500; n++) {
      const before = counts.find(`d${n}`);
      if (before === undefined) {
        const slot = counts.add(`d${n}`);
        expect([counts.topics(slot), counts.keys(slot), counts.hasRecent(slot, 7)]).toEqual([
          0,
          0,
          false,
        ]);
        counts.setCounts(slot, n, n);
        counts.addRecent(slot, 7);
      } else {
        known += 1;
        expect([counts.topics(before), counts.hasRecent(before, 7)]).toEqual([n, true]);
      }
      expect(counts.size).toBeLessThanOrEqual(400);
    }
  }
  // The oldest first would know none.
  expect(known / 4_500).toBeGreaterThan(0.3);
});
