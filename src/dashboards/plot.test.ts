// Plot of a chart: styles, axes, gaps, levels, and the earlier period.
import { expect, test } from 'vitest';
import type { Tile, TileSeries } from './configuration.ts';
import type { DeviceSeries } from './plan.ts';
import { type AnsweredSeries, chartPlot, type PlotFrame, valueRange } from './plot.ts';

const from = 1_767_225_600;
const minute = 60;
const stamp = (seconds: number) => new Date(seconds * 1_000).toISOString();
const starts = (count: number, first = from) =>
  Array.from({ length: count }, (_, at) => stamp(first + at * minute));

function answered(
  values: readonly (number | null)[],
  look: Pick<TileSeries, 'style' | 'axis'> = {},
  more: Partial<AnsweredSeries> = {},
): AnsweredSeries {
  const series: DeviceSeries = {
    deviceId: 'd',
    combined: undefined,
    topic: 'default',
    dataKey: 'level',
    isFormula: false,
    accumulator: 'LAST',
    order: {},
    expected: undefined,
    label: undefined,
    isOfMany: false,
    unit: '',
    color: undefined,
    axis: look.axis ?? 'LEFT',
    style: look.style ?? undefined,
    key: 'd level',
    group: '',
    ref: undefined,
    isHidden: false,
    isOfRange: false,
  };
  const dataPoints = { LAST: values };
  return { series, label: 'Level', timestamps: starts(values.length), dataPoints, ...more };
}

function plotOf(
  series: readonly AnsweredSeries[],
  tile: Partial<Tile> = {},
  to = from + 5 * minute,
) {
  const frame: PlotFrame = {
    from,
    to,
    bucket: { seconds: minute, isOwn: false },
    clock: (seconds) => seconds,
    levelName: ({ from: value }) => String(value),
  };
  return chartPlot({ kind: 'line', ...tile }, series, frame);
}

test('contract 39: each series has its own style and axis', () => {
  const { lines } = plotOf([
    answered([1, 2]),
    answered([1, 2], { style: 'STEP', axis: 'RIGHT' }),
    answered([1, 2], { style: 'POINTS' }),
    answered([1, 2], { style: 'BAR' }),
  ]);
  expect(
    lines.map(({ isStep, isRight, isPoints, barShare }) => [isStep, isRight, isPoints, barShare]),
  ).toEqual([
    [undefined, undefined, undefined, undefined],
    [true, true, undefined, undefined],
    [undefined, undefined, true, undefined],
    [undefined, undefined, undefined, 0.78],
  ]);
});

test('contract 39: bars of several series stand side by side, and lines cross their places', () => {
  const { times, namedTimes, lines } = plotOf([
    answered([1, 2]),
    answered([3, null], { style: 'BAR' }),
    answered([5, 6], { style: 'BAR' }),
  ]);
  const beside = minute * 0.39;
  expect(times).toEqual([from, from + beside, from + minute, from + minute + beside]);
  expect(namedTimes).toEqual([from, from, from + minute, from + minute]);
  expect(lines.map(({ values }) => values)).toEqual([
    [1, undefined, 2, undefined],
    [3, undefined, null, undefined],
    [undefined, 5, undefined, 6],
  ]);
});

test('contract 39: a silence is longer than the device may be silent', () => {
  const values = [1, 2, 3, null, null, null, null, null, 4, 5];
  const gaps = (silentAfterS: number) =>
    plotOf([answered(values, {}, { silentAfterS })]).lines[0]?.values.filter(
      (value) => value === null,
    ).length;
  expect(gaps(0)).toBe(5);
  expect(gaps(10 * minute)).toBe(0);
  expect(gaps(2 * minute)).toBe(5);
});

test('contract 39: the earlier period is a faint line at the times of this one', () => {
  const shiftS = 3_600;
  const earlier = {
    label: 'Level, earlier',
    shiftS,
    timestamps: starts(3, from - shiftS),
    dataPoints: { LAST: [7, 8, 9] },
  };
  const { lines } = plotOf([answered([1, 2, 3], {}, { earlier })]);
  expect(lines).toHaveLength(2);
  expect(lines[1]).toMatchObject({ label: 'Level, earlier', isFaint: true, values: [7, 8, 9] });
});

test('live values continue the line, and other series do not cut it', () => {
  const first = new Map([[from + 130, 3]]);
  const second = new Map([
    [from + 125, 30],
    [from + 135, 31],
  ]);
  const { times, lines, range } = plotOf([
    answered([1, 2], {}, { live: first }),
    answered([10, 20], {}, { live: second }),
    answered([5, 5], { style: 'BAR' }, { live: second }),
  ]);
  expect(times.slice(2)).toEqual([from + 125, from + 130, from + 135]);
  expect(lines[0]?.values.slice(2)).toEqual([undefined, 3, null]);
  expect(lines[1]?.values.slice(2)).toEqual([30, undefined, 31]);
  expect(lines[2]?.values.slice(2)).toEqual([undefined, undefined, undefined]);
  expect(range).toEqual([from, from + 5 * minute]);
});

test('contract 39: axes have the bounds that are named, else those of their own lines', () => {
  const plot = plotOf([answered([0, 100]), answered([5, 10], { axis: 'RIGHT' })], {
    axes: { left: { max: 50 } },
  });
  expect(valueRange(plot, 'left')).toEqual({ least: -8, most: 50, isLog: false });
  expect(valueRange(plot, 'right')).toEqual({ least: 4.6, most: 10.4, isLog: false });
  const beyond = plotOf([answered([1, 2])], { axes: { left: { min: 10 } } });
  const range = valueRange(beyond, 'left');
  expect(range.least).toBe(10);
  expect(range.most).toBeGreaterThan(10);
});

test('contract 39: a logarithmic axis leaves out what is not above zero', () => {
  const plot = plotOf([answered([0, 10, 1_000])], { axes: { left: { scale: 'LOG' } } });
  expect(plot.lines[0]?.values).toEqual([null, 10, 1_000]);
  const { least, most, isLog } = valueRange(plot, 'left');
  expect(isLog).toBe(true);
  expect(least).toBeCloseTo(10 / 1.2);
  expect(most).toBeCloseTo(1_200);
  expect(
    valueRange(plotOf([answered([null])], { axes: { left: { scale: 'LOG' } } }), 'left'),
  ).toMatchObject({ isLog: true });
});

test('thresholds far from the values are left out; the highest below colors the lowest band', () => {
  const thresholds: Tile['thresholds'] = [
    { from: -1e300, tone: 'OK' },
    { from: 25, tone: 'WARNING' },
    { from: 900, tone: 'BAD' },
  ];
  const levels = (thresholdStyle: 'LINE' | 'BAND' | 'NONE') =>
    plotOf([answered([20, 30])], { thresholds, thresholdStyle }).levels?.map(({ value }) => value);
  expect(levels('LINE')).toEqual([25]);
  expect(levels('BAND')).toEqual([20, 25]);
  expect(levels('NONE')).toBeUndefined();
});

test('bars of a bar tile are added up, and a line of it goes through their beginnings', () => {
  const hour = Array.from({ length: 60 }, (_, at) => at);
  const both = [answered(hour), answered(hour, { style: 'LINE' })];
  const { times, lines } = plotOf(both, { kind: 'bar' }, from + 60 * minute);
  expect(times).toHaveLength(12);
  expect(lines[0]?.values[0]).toBe(4);
  expect(lines[1]?.values[0]).toBe(4);
  expect(lines[1]?.barShare).toBeUndefined();
});
