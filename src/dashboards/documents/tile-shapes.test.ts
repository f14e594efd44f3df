// Tile shapes: areas are those of the counts, cells and states.
import { expect, test } from 'vitest';
import { heatmapOf, histogramOf } from '../distribution.ts';
import { stateColors } from '../states.ts';
import type { Box, Shape } from './chart-shapes.ts';
import { heatmapShapes, histogramShapes, timelineShapes } from './tile-shapes.ts';

const box: Box = { x: 10, y: 20, width: 400, height: 160 };
const zone = 'UTC';
const areasOf = (shapes: readonly Shape[]) => shapes.filter((shape) => shape.kind === 'area');
const sizeOf = ({ points }: Extract<Shape, { readonly kind: 'area' }>) => {
  const [[left, top] = [0, 0], , [right, bottom] = [0, 0]] = points;
  return { left, width: right - left, height: bottom - top };
};

function expectInside(shapes: readonly Shape[]): void {
  for (const shape of shapes) {
    if (shape.kind !== 'area') continue;
    for (const [x, y] of shape.points) {
      expect(x).toBeGreaterThanOrEqual(box.x - 0.001);
      expect(x).toBeLessThanOrEqual(box.x + box.width + 0.001);
      expect(y).toBeGreaterThanOrEqual(box.y - 0.001);
      expect(y).toBeLessThanOrEqual(box.y + box.height + 0.001);
    }
  }
}

test('contract 39: the bars of a histogram are as high as their counts', () => {
  const histogram = histogramOf([1, 1, 1, 2, 2, 3, 4, 5, 6, 7, 8, 9]);
  if (histogram === undefined) throw new Error('no histogram');
  const shapes = histogramShapes(histogram, 'bar', '--c1', box);
  const counts = histogram.counts.filter((count) => count > 0);
  const heights = areasOf(shapes).map((area) => sizeOf(area).height);
  const most = Math.max(...heights);
  expect(heights.map((height) => height / most)).toEqual(
    counts.map((count) => expect.closeTo(count / Math.max(...counts))),
  );
  expectInside(shapes);
});

test('contract 39: each hour of a heatmap is a square, the darker the greater', () => {
  const start = Date.parse('2026-01-01T00:00:00Z');
  const timestamps = Array.from({ length: 72 }, (_, at) =>
    new Date(start + at * 3_600_000).toISOString(),
  );
  const values = timestamps.map((_, at) => at);
  const heatmap = heatmapOf(timestamps, values, (seconds) => seconds);
  if (heatmap === undefined) throw new Error('no heatmap');
  const shapes = heatmapShapes(heatmap, '', '--c1', box, zone);
  const squares = areasOf(shapes);
  expect(squares).toHaveLength(72);
  expect(squares.at(0)?.opacity).toBeCloseTo(0.08);
  expect(squares.at(-1)?.opacity).toBe(1);
  expectInside(shapes);
});

test('contract 39: states are as wide as they last, and named where there is room', () => {
  const rows = [
    {
      label: 'Door',
      stretches: [
        { fromMs: 0, toMs: 900_000, value: 'open' },
        { fromMs: 900_000, toMs: 901_000, value: 'closed' },
        { fromMs: 901_000, toMs: 3_600_000, value: 'open' },
      ],
    },
  ];
  const interval = { fromMs: 0, toMs: 3_600_000 };
  const shapes = timelineShapes(rows, stateColors(null, ['open', 'closed']), interval, box, zone);
  const widths = areasOf(shapes)
    .filter(({ opacity }) => opacity === 0.3)
    .map((area) => sizeOf(area).width);
  const whole = widths.reduce((sum, width) => sum + width, 0);
  expect(widths.map((width) => width / whole)).toEqual([
    expect.closeTo(0.25),
    expect.closeTo(1 / 3_600),
    expect.closeTo(0.75, 2),
  ]);
  const texts = shapes.flatMap((shape) => (shape.kind === 'text' ? shape.text : []));
  expect(texts.filter((text) => text === 'open')).toHaveLength(2);
  expect(texts).toContain('Door');
  expect(texts).not.toContain('closed');
  expectInside(shapes);
});
