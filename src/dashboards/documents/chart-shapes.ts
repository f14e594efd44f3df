// Chart shapes: a plot as lines, areas and words on a page or picture, which has no pointer and no script.
import {
  levelSide,
  type Plot,
  type PlotLine,
  type PlotValue,
  type Side,
  valueRange,
} from '../plot.ts';
import { dayMs, hourMs, minuteMs } from '../../model/instant.ts';
import { numberText, timeLabel } from './document.ts';

export type Point = readonly [x: number, y: number];

/** Lengths are points of a page or pixels of a picture; y grows downward. Colors are `#rrggbb`. */
export type Shape =
  | {
      readonly kind: 'line';
      readonly points: readonly Point[];
      readonly color: string;
      readonly width: number;
      readonly dash?: readonly [on: number, off: number];
    }
  | {
      readonly kind: 'area';
      readonly points: readonly Point[];
      readonly color: string;
      readonly opacity: number;
    }
  /** What follows is cut at the box, until the end of it. */
  | { readonly kind: 'clip'; readonly box: Box }
  | { readonly kind: 'clipEnd' }
  | {
      readonly kind: 'dot';
      readonly at: Point;
      readonly radius: number;
      readonly color: string;
    }
  | {
      readonly kind: 'text';
      readonly text: string;
      /** Where its baseline begins, ends, or has its middle. */
      readonly at: Point;
      readonly align: 'left' | 'center' | 'right';
      readonly size: number;
      readonly color: string;
      readonly bold?: boolean;
    };

export interface Box {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

/** Colors of the light theme of the console. */
export const inks = {
  text: '#1c1917',
  soft: '#57524b',
  faint: '#736d63',
  line: '#e7e3da',
  surface: '#faf9f6',
  OK: '#12703a',
  WARNING: '#8a5c00',
  BAD: '#b91c1c',
} as const;

const palette: Readonly<Record<string, string>> = {
  '--c1': '#c2570c',
  '--c2': '#3456bf',
  '--c3': '#589d92',
  '--c4': '#8e3a62',
  '--c5': '#af71fa',
  '--c6': '#312f2a',
  '--ok': inks.OK,
  '--warn': inks.WARNING,
  '--bad': inks.BAD,
  '--line-strong': '#cfc9bd',
  '--ink': inks.text,
  '--ink-2': inks.soft,
  '--ink-3': inks.faint,
};

/** The color of a token of the console, such as `--c1`. */
export const inkOf = (token: string): string => palette[token] ?? inks.text;

const fontSize = 7;
const axisWidth = 34;
const axisHeight = 14;
const legendHeight = 12;
const legendColumnWidth = 110;
const lineWidth = 1.1;

/** A scale from values to lengths. */
interface Scale {
  readonly least: number;
  readonly most: number;
  readonly isLog?: boolean;
  readonly at: (value: number) => number;
}

/** What is drawn in the box, from back to front. */
export function chartShapes(plot: Plot, box: Box, zone: string): readonly Shape[] {
  const columns = Math.max(1, Math.floor(box.width / legendColumnWidth));
  const named = plot.lines.length > 1 || plot.lines.some(({ unit }) => (unit ?? '') !== '');
  const legendRows = named ? Math.min(legendRowsMax, Math.ceil(plot.lines.length / columns)) : 0;
  const hasRight = plot.lines.some(isRight);
  const hasLeft = levelSide(plot) === 'left';
  const labels = (['left', 'right'] as const).filter((side) => plot.axes?.[side]?.label);
  const labelHeight = labels.length > 0 ? fontSize + 3 : 0;
  const area: Box = {
    x: box.x + axisWidth,
    y: box.y + 4 + labelHeight,
    width: box.width - axisWidth - (hasRight ? axisWidth : 4),
    height: box.height - axisHeight - legendRows * legendHeight - 4 - labelHeight,
  };
  const x = timeScale(plot, area);
  const right = valueScale(plot, 'right', area);
  const left = hasLeft ? valueScale(plot, 'left', area) : right;
  const scaleOf = (line: PlotLine) => (isRight(line) ? right : left);
  return [
    ...(plot.isBanded === true ? bandShapes(plot, left, area) : []),
    ...(hasLeft ? valueAxis(left, area, 'left') : []),
    ...(hasRight ? valueAxis(right, area, 'right') : []),
    ...labels.map((side) => axisLabel(plot.axes?.[side]?.label ?? '', side, box, area)),
    ...timeAxis(x, area, zone),
    ...(plot.isBanded === true ? [] : levelShapes(plot, left, area)),
    ...clipped(
      plot,
      area,
      plot.lines.flatMap((line) => lineShapes(plot, line, x, scaleOf(line), area)),
    ),
    ...markShapes(plot, x, area),
    ...legendShapes(
      plot,
      { ...box, y: box.y + box.height - legendRows * legendHeight },
      columns,
      legendRows,
    ),
  ];
}

const legendRowsMax = 6;

/** An axis whose bounds are named can be shorter than its lines. */
function clipped({ axes }: Plot, box: Box, shapes: readonly Shape[]): readonly Shape[] {
  const isFixed = [axes?.left, axes?.right].some(
    (axis) => typeof axis?.min === 'number' || typeof axis?.max === 'number',
  );
  return isFixed ? [{ kind: 'clip', box }, ...shapes, { kind: 'clipEnd' }] : shapes;
}

function isRight(line: PlotLine): boolean {
  return line.isRight === true;
}

// Scales.

function timeScale({ times, range }: Plot, { x, width }: Box): Scale {
  const [from, to] = range ?? [times[0] ?? 0, times.at(-1) ?? 1];
  const length = to - from || 1;
  return { least: from, most: to, at: (seconds) => x + ((seconds - from) / length) * width };
}

function valueScale(plot: Plot, side: Side, { y, height }: Box): Scale {
  const { least, most, isLog } = valueRange(plot, side);
  const scaled = (value: number) => (isLog ? Math.log(Math.max(value, least)) : value);
  const length = scaled(most) - scaled(least) || 1;
  const share = (value: number) => (scaled(value) - scaled(least)) / length;
  return { least, most, isLog, at: (value) => y + height - share(value) * height };
}

// Axes.

function valueAxis(scale: Scale, area: Box, side: Side): Shape[] {
  const shapes: Shape[] = [];
  const count = Math.max(2, Math.floor(area.height / 20));
  for (const value of scale.isLog === true ? powersOf(scale, count) : stepsOf(scale, count)) {
    const y = scale.at(value);
    const [from, to] = [area.x, area.x + area.width];
    if (side === 'left')
      shapes.push({
        kind: 'line',
        points: [
          [from, y],
          [to, y],
        ],
        color: inks.line,
        width: 0.5,
      });
    shapes.push({
      kind: 'text',
      text: numberText(value),
      at: side === 'left' ? [from - 4, y + 2.5] : [to + 4, y + 2.5],
      align: side === 'left' ? 'right' : 'left',
      size: fontSize,
      color: inks.faint,
    });
  }
  return shapes;
}

/** Whole steps within the scale, about as many as wanted. */
function stepsOf({ least, most }: Scale, count: number): number[] {
  const step = niceStep((most - least) / count);
  const first = Math.ceil(least / step);
  const found = Math.max(0, Math.floor(most / step) - first + 1);
  return Array.from({ length: found }, (_, at) => (first + at) * step);
}

/** Powers of ten within the scale, and where these are few, twice and five times of them. */
function powersOf({ least, most }: Scale, count: number): number[] {
  const decades = Math.log10(most / least);
  const factors = decades * 3 <= count ? [1, 2, 5] : [1];
  const every = Math.max(1, Math.ceil(decades / count));
  const values: number[] = [];
  for (let power = Math.floor(Math.log10(least)); 10 ** power <= most; power++)
    if (power % every === 0) values.push(...factors.map((factor) => factor * 10 ** power));
  return values.filter((value) => value >= least && value <= most);
}

/** Above the axis that it names. */
function axisLabel(label: string, side: Side, box: Box, area: Box): Shape {
  const isLeft = side === 'left';
  return {
    kind: 'text',
    text: shortened(label, box.width / 2),
    at: [isLeft ? box.x : box.x + box.width, area.y - 4],
    align: isLeft ? 'left' : 'right',
    size: fontSize,
    color: inks.soft,
  };
}

/** 1, 2 or 5 times a power of ten, at least as long as the wanted step. */
function niceStep(wanted: number): number {
  const power = 10 ** Math.floor(Math.log10(wanted || 1));
  const factor = [1, 2, 5].find((one) => one * power >= wanted) ?? 10;
  return factor * power;
}

const tickWidth = 56;
const tickStepsMs = [
  ...[1_000, 5_000, 15_000, 30_000],
  ...[1, 2, 5, 10, 15, 30].map((minutes) => minutes * minuteMs),
  ...[1, 2, 3, 6, 12].map((hours) => hours * hourMs),
  ...[1, 2, 7, 14, 28, 56, 112, 364].map((days) => days * dayMs),
];

/** Ticks stand where the clock of the zone shows whole steps, also where clocks change. */
export function timeAxis(scale: Scale, area: Box, zone: string): Shape[] {
  const [fromMs, toMs] = [scale.least * 1_000, scale.most * 1_000];
  const wanted = (toMs - fromMs) / Math.max(1, Math.floor(area.width / tickWidth));
  const step = tickStepsMs.find((one) => one >= wanted) ?? Math.ceil(wanted / dayMs) * dayMs;
  const shapes: Shape[] = [];
  for (const ms of ticksOf(fromMs, toMs, step, zone)) {
    const x = scale.at(ms / 1_000);
    const [bottom, below] = [area.y + area.height, area.y + area.height + 3];
    shapes.push(
      {
        kind: 'line',
        points: [
          [x, bottom],
          [x, below],
        ],
        color: inks.line,
        width: 0.5,
      },
      {
        kind: 'text',
        text: timeLabel(ms, zone, step >= dayMs),
        at: [x, bottom + axisHeight - 3],
        align: 'center',
        size: fontSize,
        color: inks.faint,
      },
    );
  }
  return shapes;
}

const ticksMax = 100;

function ticksOf(fromMs: number, toMs: number, stepMs: number, zone: string): number[] {
  const ticks: number[] = [];
  const begin = Temporal.Instant.fromEpochMilliseconds(Math.floor(fromMs)).toZonedDateTimeISO(zone);
  const midnight = begin.startOfDay();
  const perDay = stepMs < dayMs;
  for (let count = 0, day = midnight; count < ticksMax; count++) {
    if (day.epochMilliseconds > toMs) break;
    if (perDay) {
      const next = day.add({ days: 1 });
      for (let local = 0; local < dayMs; local += stepMs) {
        const time = Temporal.PlainTime.from('00:00').add({ milliseconds: local });
        const at = day.withPlainTime(time).epochMilliseconds;
        if (at >= fromMs && at <= toMs && at < next.epochMilliseconds && at !== ticks.at(-1))
          ticks.push(at);
        if (at > toMs) break;
      }
      day = next;
      continue;
    }
    if (day.epochMilliseconds >= fromMs) ticks.push(day.epochMilliseconds);
    day = day.add({ days: Math.round(stepMs / dayMs) });
  }
  return ticks;
}

// Data.

function lineShapes(plot: Plot, line: PlotLine, x: Scale, y: Scale, area: Box): Shape[] {
  const color = line.isFaint === true ? faded(inkOf(line.color)) : inkOf(line.color);
  if (line.barShare !== undefined) return barShapes(plot, line, line.barShare, x, y, area);
  const shapes: Shape[] = [];
  const { band } = line;
  if (band !== undefined) {
    const lower = runsOf(plot.times, band.least);
    for (const [at, upper] of runsOf(plot.times, band.greatest).entries()) {
      const below = lower[at] ?? [];
      const points = [...upper, ...below.toReversed()].map(placed);
      if (points.length > 2) shapes.push({ kind: 'area', points, color, opacity: 0.15 });
    }
  }
  for (const run of runsOf(plot.times, line.values)) {
    const points = (line.isStep === true ? steps(run) : run).map(placed);
    if (line.isPoints === true || points.length === 1)
      for (const at of points) shapes.push({ kind: 'dot', at, radius: 1.4, color });
    else
      shapes.push({
        kind: 'line',
        points,
        color,
        width: lineWidth,
        ...(line.isDashed === true && { dash: [4, 3] as const }),
      });
  }
  return shapes;

  function placed([time, value]: Point): Point {
    return [x.at(time), y.at(value)];
  }
}

/** Each value holds until the next one. */
function steps(run: readonly Point[]): Point[] {
  return run.flatMap(([time, value], at): Point[] => {
    const before = run[at - 1];
    return before === undefined
      ? [[time, value]]
      : [
          [time, before[1]],
          [time, value],
        ];
  });
}

/** Halfway to the color of the page. */
function faded(color: string): string {
  const parts = [1, 3, 5].map((at) => Number.parseInt(color.slice(at, at + 2), 16));
  return `#${parts
    .map((part) =>
      Math.round((part + 255) / 2)
        .toString(16)
        .padStart(2, '0'),
    )
    .join('')}`;
}

/** The values between gaps, with their times; a line crosses `undefined` and ends at `null`. */
function runsOf(times: readonly number[], values: readonly PlotValue[]): Point[][] {
  const runs: Point[][] = [];
  let run: Point[] = [];
  for (const [at, value] of values.entries()) {
    const time = times[at];
    if (typeof value === 'number' && time !== undefined) run.push([time, value]);
    else if (value === null && run.length > 0) {
      runs.push(run);
      run = [];
    }
  }
  if (run.length > 0) runs.push(run);
  return runs;
}

/** Bars begin at their times. */
function barShapes(
  { times }: Plot,
  { values, color }: PlotLine,
  share: number,
  x: Scale,
  y: Scale,
  area: Box,
): Shape[] {
  // Times of other series are in between; a bar's place is up to the next time of its own.
  const own = times.filter((_, at) => values[at] !== undefined);
  const places = own.slice(1).map((time, at) => time - (own[at] ?? 0));
  const place = places.length > 0 ? Math.min(...places) : x.most - x.least;
  const width = Math.max(0.5, (x.at(place) - x.at(0)) * share);
  return values.flatMap((value, at): Shape[] => {
    const time = times[at];
    if (typeof value !== 'number' || time === undefined) return [];
    const left = x.at(time);
    const right = Math.min(left + width, area.x + area.width);
    const [top, bottom] = [y.at(value), y.at(y.isLog === true ? y.least : 0)];
    const points: Point[] = [
      [left, top],
      [right, top],
      [right, bottom],
      [left, bottom],
    ];
    return [{ kind: 'area', points, color: inkOf(color), opacity: 1 }];
  });
}

/** Behind the lines: what each level begins, up to the next one. */
function bandShapes({ levels = [] }: Plot, y: Scale, area: Box): Shape[] {
  const rising = levels.toSorted((a, b) => a.value - b.value);
  const [right, lowest] = [area.x + area.width, area.y + area.height];
  const within = (value: number) => Math.min(lowest, Math.max(area.y, y.at(value)));
  return rising.map(({ value, color }, at): Shape => {
    const next = rising[at + 1];
    const [bottom, top] = [within(value), next === undefined ? area.y : within(next.value)];
    const points: Point[] = [
      [area.x, top],
      [right, top],
      [right, bottom],
      [area.x, bottom],
    ];
    return { kind: 'area', points, color: inkOf(color), opacity: 0.12 };
  });
}

function levelShapes({ levels = [] }: Plot, y: Scale, area: Box): Shape[] {
  const right = area.x + area.width;
  return levels.flatMap(({ value, label, color }): Shape[] => {
    const at = y.at(value);
    if (at < area.y || at > area.y + area.height) return [];
    const ink = inkOf(color);
    return [
      {
        kind: 'line',
        points: [
          [area.x, at],
          [right, at],
        ],
        color: ink,
        width: 0.8,
        dash: [4, 3],
      },
      {
        kind: 'text',
        text: label,
        at: [right, at - 2],
        align: 'right',
        size: fontSize,
        color: ink,
      },
    ];
  });
}

function markShapes({ marks = [] }: Plot, x: Scale, area: Box): Shape[] {
  const bottom = area.y + area.height;
  return marks.flatMap(({ at, until, label, color }): Shape[] => {
    const ink = inkOf(color);
    const [begin, end] = [Math.max(at, x.least), Math.min(until ?? at, x.most)];
    const [from, to] = [x.at(begin), x.at(end)];
    const points: Point[] = [
      [from, area.y],
      [to, area.y],
      [to, bottom],
      [from, bottom],
    ];
    const shade: Shape[] = end > begin ? [{ kind: 'area', points, color: ink, opacity: 0.12 }] : [];
    if (at < x.least || at > x.most) return shade;
    const left = from;
    return [
      ...shade,
      {
        kind: 'line',
        points: [
          [left, area.y],
          [left, bottom],
        ],
        color: ink,
        width: 0.8,
        dash: [3, 2],
      },
      {
        kind: 'text',
        text: label,
        at: [left + 3, area.y + 6],
        align: 'left',
        size: fontSize,
        color: ink,
      },
    ];
  });
}

function legendShapes({ lines }: Plot, box: Box, columns: number, rows: number): Shape[] {
  const shown = Math.min(lines.length, columns * rows);
  const width = box.width / columns;
  return lines.slice(0, shown).flatMap((line, at): Shape[] => {
    const isRest = at === shown - 1 && lines.length > shown;
    const left = box.x + (at % columns) * width;
    const y = box.y + Math.floor(at / columns) * legendHeight + legendHeight / 2;
    const text = isRest
      ? `and ${lines.length - shown + 1} more`
      : [line.label, line.unit ? `(${line.unit})` : ''].join(' ').trim();
    const named: Shape = {
      kind: 'text',
      text: shortened(text, width - 16),
      at: [left + 14, y + 2.5],
      align: 'left',
      size: fontSize,
      color: inks.soft,
    };
    if (isRest) return [named];
    const dash = line.isDashed === true && { dash: [3, 2] as const };
    const color = line.isFaint === true ? faded(inkOf(line.color)) : inkOf(line.color);
    const points: Point[] = [
      [left, y],
      [left + 10, y],
    ];
    return [{ kind: 'line', points, color, width: 1.6, ...dash }, named];
  });
}

/** About as many characters as fit: half of the size of the letters each. */
export function shortened(text: string, width: number): string {
  const most = Math.max(4, Math.floor(width / (fontSize * 0.54)));
  return text.length <= most ? text : `${text.slice(0, most - 1)}…`;
}
