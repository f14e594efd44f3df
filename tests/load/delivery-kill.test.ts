// The short form of the kill runs with deliveries, and that their checks notice what is wrong.
import { expect, test } from 'vitest';
import { arrivalViolations } from './delivery-checks.ts';
import { deliveryKillRounds } from './delivery-kill.ts';
import type { Arrival } from './delivery-sink.ts';

test('3 kills while deliveries run: none is lost, a repeated one has its id, each device keeps its order', {
  timeout: 240_000,
}, async () => {
  // A fixed sequence of numbers, of the kind that visits all shares evenly.
  let turn = 0;
  const report = await deliveryKillRounds(3, () => ((turn += 1) * 0.618034) % 1);
  expect(report.violations).toEqual([]);
  expect(report.acknowledged).toBeGreaterThan(150);
  // Each kill cut off a delivery that had arrived.
  expect(report.repeated).toBeGreaterThanOrEqual(3);
});

const came = (
  deliveryId: string,
  sequence: number,
  life = 0,
  fate: Arrival['fate'] = 'accepted',
): Arrival => ({
  deliveryId,
  deviceId: 'd',
  sequence,
  life,
  fate,
});

const cases: [string, Arrival[], RegExp | undefined][] = [
  [
    'a repetition after a kill',
    [came('a', 1), came('b', 2, 0, 'cut'), came('a', 1, 1), came('b', 2, 1)],
    undefined,
  ],
  ['a try after a refusal', [came('a', 1, 0, 'refused'), came('a', 1), came('b', 2)], undefined],
  ['a lost one', [came('a', 1)], /^acknowledged and lost: 2$/],
  ['another id', [came('a', 1), came('b', 2, 0, 'cut'), came('c', 2, 1)], /^2 came as b and c$/],
  ['two samples', [came('a', 1), came('a', 2)], /^a came with two samples$/],
  ['the wrong order', [came('b', 2), came('a', 1)], /^1 came first after 2$/],
  [
    'one that overtakes',
    [came('a', 1, 0, 'refused'), came('b', 2), came('a', 1, 1)],
    /^2 came before 1 was accepted$/,
  ],
  ['a needless repetition', [came('a', 1), came('a', 1), came('b', 2)], /^1 came again$/],
  [
    'one that stays cut off',
    [came('a', 1), came('b', 2), came('c', 3, 0, 'cut')],
    /^3 was cut off and did not come/,
  ],
];

for (const [name, arrivals, violation] of cases) {
  test(`the check of arrivals: ${name}`, () => {
    const [first] = arrivalViolations({ acknowledged: new Set([1, 2]) }, arrivals);
    if (violation === undefined) expect(first).toBeUndefined();
    else expect(first).toMatch(violation);
  });
}
