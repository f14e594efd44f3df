// Heat: values stay between those measured, are exact at a device, and end where devices are far.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { heatColor, heatOf, type HeatPoint, heatSide, partOf } from './heat.ts';

/** The value of the cell in which the point is. */
function at(points: readonly HeatPoint[], x: number, y: number, aspect = 1): number {
  const cells = heatOf(points, aspect)?.cells;
  return cells?.[Math.floor(y * heatSide) * heatSide + Math.floor(x * heatSide)] ?? NaN;
}

const middleOf = (cell: number) => (cell + 0.5) / heatSide;

test('a device has its own value, and the middle between two the mean', () => {
  const points = [
    { x: middleOf(16), y: 0.5, value: 10 },
    { x: middleOf(48), y: 0.5, value: 30 },
  ];
  expect(at(points, middleOf(16), 0.5)).toBeCloseTo(10, 1);
  expect(at(points, middleOf(48), 0.5)).toBeCloseTo(30, 1);
  expect(at(points, middleOf(32), 0.5)).toBeCloseTo(20, 0);
});

test('nothing is estimated farther than 1.5 times the distance between neighbors', () => {
  const points = [
    { x: 0.1, y: 0.1, value: 1 },
    { x: 0.2, y: 0.1, value: 2 },
  ];
  expect(at(points, 0.15, 0.2)).not.toBeNaN();
  expect(at(points, 0.15, 0.3)).toBeNaN();
  // On a plan four times as wide the distance between the two is four times as long.
  expect(at(points, 0.15, 0.3, 4)).not.toBeNaN();
});

test('one device colors the whole plan, and none colors nothing', () => {
  const cells = heatOf([{ x: 0.9, y: 0.9, value: 7 }], 2)?.cells;
  expect(cells).toHaveLength(heatSide * heatSide);
  expect(cells?.every((value) => Math.abs(value - 7) < 1e-9)).toBe(true);
  expect(heatOf([], 1)).toBeUndefined();
  expect(heatOf([{ x: 0.5, y: 0.5, value: NaN }], 1)).toBeUndefined();
});

test('property: every cell is between the least and the greatest value', () => {
  const fraction = fc.double({ min: 0, max: 1, noNaN: true });
  const point = fc.record({
    x: fraction,
    y: fraction,
    value: fc.double({ min: -1e6, max: 1e6, noNaN: true }),
  });
  fc.assert(
    fc.property(
      fc.array(point, { minLength: 1, maxLength: 40 }),
      fc.double({ min: 0.2, max: 5, noNaN: true }),
      (points, aspect) => {
        const heat = heatOf(points, aspect);
        if (heat === undefined) throw new Error('no heat');
        const estimated = heat.cells.filter((value) => !Number.isNaN(value));
        expect(estimated.length).toBeGreaterThan(0);
        const isBetween = (value: number) => value >= heat.min - 1e-6 && value <= heat.max + 1e-6;
        expect(estimated.every(isBetween)).toBe(true);
      },
    ),
    {
      numRuns: 50,
      examples: [
        [
          [
            { x: 0.015625, y: 0, value: 0 },
            { x: 0, y: 0, value: 0 },
          ],
          0.2,
        ],
      ],
    },
  );
});

test('colors go from the first to the last stop, and one value is in the middle', () => {
  expect(heatColor(0)).toEqual([43, 76, 176]);
  expect(heatColor(1)).toEqual([185, 28, 28]);
  expect(heatColor(2)).toEqual(heatColor(1));
  expect(partOf(5, { min: 5, max: 5 })).toBe(0.5);
  expect(partOf(3, { min: 1, max: 5 })).toBe(0.5);
});
