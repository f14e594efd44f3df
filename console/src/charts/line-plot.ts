// Line plot: the settings of uPlot for axes, lines, bands and the tip under the pointer.
import uPlot from 'uplot';
import {
  levelSide,
  type Plot,
  type PlotLevel,
  type PlotLine,
  type PlotMark,
  type PlotValue,
  type Side,
  valueRange,
} from '../../../src/dashboards/plot.ts';
import { tokenValue } from '../ui/theme.ts';
import type { Formats } from '../words/formats.ts';

export interface PlotParts extends Plot {
  readonly element: HTMLElement;
  /** Shows the values under the pointer. */
  readonly note: HTMLElement;
  readonly zone: string;
  readonly height: number;
  readonly formats: Formats;
  /** Without it a drag selects nothing. */
  readonly zoomed?: (from: number, to: number) => void;
  /** Called on a click that drags nothing, with its time and its place in the element. */
  readonly clicked?: (seconds: number, left: number) => void;
}

const axisWidthPx = 52;
/** Of the second axis. */
const rightWidthPx = 46;
const labelHeightPx = 18;

/** Names of the scales of uPlot. */
const scaleNames = { left: 'y', right: 'y2' } as const;

const scaleOf = ({ isRight }: PlotLine) => scaleNames[isRight === true ? 'right' : 'left'];
const levelScale = (plot: Pick<Plot, 'lines'>) => scaleNames[levelSide(plot)];

export function createPlot(parts: PlotParts): uPlot {
  const { element, times, lines, height, zone } = parts;
  const data: (readonly PlotValue[])[] = [times];
  const series: uPlot.Series[] = [{}];
  const bands: uPlot.Band[] = [];
  for (const line of lines) {
    data.push(line.values);
    series.push(lineSeries(line, lines.length === 1));
    if (line.band === undefined) continue;
    const at = data.length;
    const edge = { ...edgeSeries, scale: scaleOf(line) };
    data.push(line.band.greatest, line.band.least);
    series.push(edge, edge);
    bands.push({ series: [at, at + 1], fill: `${tokenValue(line.color)}26` });
  }
  let isDragged = false;
  const options: uPlot.Options = {
    width: element.clientWidth,
    height,
    tzDate: (seconds) => uPlot.tzDate(new Date(seconds * 1_000), zone),
    legend: { show: false },
    padding: [12, lines.some(({ isRight }) => isRight === true) ? 0 : 24, 0, 0],
    // The crosshair stands at the same time in all charts of a page.
    cursor: {
      sync: { key: 'page', setSeries: false, scales: ['x', null] },
      y: false,
      drag: { x: parts.zoomed !== undefined, y: false, setScale: false },
      points: { size: 8 },
    },
    axes: axesOf(parts),
    scales: scalesOf(parts),
    series,
    bands,
    hooks: {
      draw: [
        (plot) => drawMarks(plot, parts.marks ?? []),
        (plot) => {
          if (parts.isBanded !== true) drawLevels(plot, parts.levels ?? [], levelScale(parts));
        },
      ],
      drawClear: [
        (plot) => {
          if (parts.isBanded === true) drawBands(plot, parts.levels ?? [], levelScale(parts));
        },
      ],
      setCursor: [(plot) => showTip(plot, parts)],
      setSelect: [
        (plot) => {
          isDragged = plot.select.width >= draggedPx;
          select(plot, parts);
        },
      ],
      ready: [
        (plot) => {
          plot.over.addEventListener('mousedown', () => (isDragged = false));
          plot.over.addEventListener('click', ({ offsetX }) => {
            const left = offsetX + plot.over.offsetLeft;
            // The click that ends a drag is no click.
            if (isDragged) return;
            parts.clicked?.(plot.posToVal(offsetX, 'x'), left);
          });
        },
      ],
    },
  };
  return new uPlot(options, data as uPlot.AlignedData, element);
}

/** The value at the height of the page, on the axis of the levels; within what the axis shows. */
export function levelAt(plot: uPlot, lines: readonly PlotLine[], clientY: number): number {
  const { top, height } = plot.over.getBoundingClientRect();
  return plot.posToVal(Math.min(Math.max(clientY - top, 0), height), levelScale({ lines }));
}

/** Shared with documents: the same plot has the same axes there. */
function scalesOf(parts: PlotParts): uPlot.Scales {
  const { range } = parts;
  const scale = (side: Side): uPlot.Scale => {
    const { least, most, isLog } = valueRange(parts, side);
    // oxlint-disable-next-line typescript/no-unsafe-enum-assignment -- only types have the enum
    return { range: () => [least, most], ...(isLog && { distr: 3 }) };
  };
  return {
    ...(range === undefined ? {} : { x: { range: () => [range[0], range[1]] } }),
    [scaleNames.left]: scale('left'),
    [scaleNames.right]: scale('right'),
  };
}

function lineSeries(line: PlotLine, isOnly: boolean): uPlot.Series {
  const { color, label, values, isDashed = false, barShare } = line;
  const { isStep = false, isPoints = false, isFaint = false } = line;
  const stroke = isFaint ? `${tokenValue(color)}73` : tokenValue(color);
  const scale = scaleOf(line);
  if (barShare !== undefined) {
    const paths = uPlot.paths.bars?.({ size: [barShare, 80], align: 1, radius: 0.08 });
    const look = { label, scale, stroke, fill: stroke, width: 0, points: { show: false } };
    return paths === undefined ? look : { ...look, paths };
  }
  const stepped = isStep ? uPlot.paths.stepped?.({ align: 1 }) : undefined;
  const points = { show: true, size: 5, fill: stroke };
  if (isPoints) return { label, scale, stroke, width: 0, paths: () => null, points };
  return {
    label,
    scale,
    stroke,
    width: 1.75,
    spanGaps: false,
    points: { ...points, filter: () => isolatedPoints(values) },
    ...(stepped === undefined ? {} : { paths: stepped }),
    ...(isDashed ? { dash: [5, 4] } : {}),
    ...(isOnly ? { fill: (plot) => fading(plot, stroke) } : {}),
  };
}

/** A value between two gaps has no line, so it is a point. */
function isolatedPoints(values: readonly PlotValue[]): number[] {
  const isKnown = (value: PlotValue) => value !== null && value !== undefined;
  const known = values.flatMap((value, at) => (isKnown(value) ? [at] : []));
  return known.filter((at, i) => {
    const [before, after] = [known[i - 1], known[i + 1]];
    const isAfterGap = before === undefined || values.slice(before + 1, at).includes(null);
    return isAfterGap && (after === undefined || values.slice(at + 1, after).includes(null));
  });
}

const edgeSeries: uPlot.Series = { width: 0, points: { show: false } };

function fading({ ctx, bbox }: uPlot, color: string): CanvasGradient {
  const gradient = ctx.createLinearGradient(0, bbox.top, 0, bbox.top + bbox.height);
  gradient.addColorStop(0, `${color}2e`);
  gradient.addColorStop(1, `${color}00`);
  return gradient;
}

function axesOf({ zone, formats, lines, axes }: PlotParts): uPlot.Axis[] {
  const font = `500 11px ${tokenValue('--sans')}`;
  const axis: uPlot.Axis = { stroke: tokenValue('--ink-3'), font, ticks: { show: false } };
  const valueAxis = (side: Side, size: number): uPlot.Axis => {
    const label = axes?.[side]?.label;
    return {
      ...axis,
      scale: scaleNames[side],
      // oxlint-disable-next-line typescript/no-unsafe-enum-assignment -- only types have the enum
      side: side === 'left' ? 3 : 1,
      size,
      values: (_plot, values) =>
        // Between the powers of a logarithmic axis there is no name.
        values.map((value) => (typeof value === 'number' ? formats.value(value) : '')),
      ...(label ? { label, labelFont: font, labelSize: labelHeightPx } : {}),
    };
  };
  const hasRight = lines.some(({ isRight }) => isRight === true);
  const hasLeft = levelSide({ lines }) === 'left';
  const grid = { stroke: tokenValue('--line'), width: 1 };
  return [
    {
      ...axis,
      grid: { show: false },
      space: 72,
      size: 30,
      gap: 8,
      values: (_plot, seconds) => seconds.map((at) => formats.tick(at * 1_000, zone)),
    },
    { ...valueAxis('left', axisWidthPx), grid, show: hasLeft },
    ...(hasRight
      ? [{ ...valueAxis('right', rightWidthPx), grid: hasLeft ? { show: false } : grid }]
      : []),
  ];
}

const markFontPx = 11;

/** The row of each name, given where it begins and ends: the first in which it covers no other. */
export function labelRows(spans: readonly (readonly [number, number])[]): number[] {
  const rows: (readonly [number, number])[][] = [];
  return spans.map((span) => {
    const [from, to] = span;
    const free = rows.findIndex((row) => row.every(([start, end]) => to <= start || from >= end));
    if (free < 0) return rows.push([span]) - 1;
    rows[free]?.push(span);
    return free;
  });
}

function drawMarks({ ctx, bbox, valToPos }: uPlot, marks: readonly PlotMark[]): void {
  const scale = devicePixelRatio;
  const gap = 5 * scale;
  ctx.save();
  ctx.font = `500 ${markFontPx * scale}px ${tokenValue('--sans')}`;
  const shown = marks.flatMap((mark) => {
    const end = valToPos(mark.until ?? mark.at, 'x', true);
    const begin = Math.round(valToPos(mark.at, 'x', true));
    if (end < bbox.left || begin > bbox.left + bbox.width) return [];
    const x = Math.max(bbox.left, begin);
    // At the right end the name is before its line.
    const isLast = x > bbox.left + bbox.width * 0.85;
    const width = ctx.measureText(mark.label).width + gap;
    return [{ ...mark, x, isLast, from: isLast ? x - width : x, to: isLast ? x : x + width }];
  });
  const rows = labelRows(shown.map(({ from, to }) => [from, to]));
  for (const [at, { x, isLast, label, color, until }] of shown.entries()) {
    if (until !== undefined) {
      const end = Math.min(bbox.left + bbox.width, valToPos(until, 'x', true));
      ctx.fillStyle = `${tokenValue(color)}1f`;
      ctx.fillRect(x, bbox.top, end - x, bbox.height);
    }
    ctx.strokeStyle = ctx.fillStyle = tokenValue(color);
    ctx.lineWidth = 1.5 * scale;
    ctx.setLineDash([4 * scale, 3 * scale]);
    ctx.beginPath();
    ctx.moveTo(x, bbox.top);
    ctx.lineTo(x, bbox.top + bbox.height);
    ctx.stroke();
    ctx.textAlign = isLast ? 'right' : 'left';
    const below = (rows[at] ?? 0) * (markFontPx + 3);
    ctx.fillText(label, x + (isLast ? -gap : gap), bbox.top + (markFontPx + below) * scale);
  }
  ctx.restore();
}

function drawLevels(
  { ctx, bbox, valToPos }: uPlot,
  levels: readonly PlotLevel[],
  axis: string,
): void {
  const scale = devicePixelRatio;
  for (const { value, label, color } of levels) {
    const y = Math.round(valToPos(value, axis, true));
    ctx.save();
    ctx.strokeStyle = ctx.fillStyle = tokenValue(color);
    ctx.lineWidth = 1.5 * scale;
    ctx.setLineDash([6 * scale, 4 * scale]);
    ctx.beginPath();
    ctx.moveTo(bbox.left, y);
    ctx.lineTo(bbox.left + bbox.width, y);
    ctx.stroke();
    ctx.font = `500 ${markFontPx * scale}px ${tokenValue('--sans')}`;
    ctx.textAlign = 'right';
    ctx.fillText(label, bbox.left + bbox.width, y - 4 * scale);
    ctx.restore();
  }
}

/** Behind the lines: what each level begins, up to the next one. */
function drawBands(
  { ctx, bbox, valToPos }: uPlot,
  levels: readonly PlotLevel[],
  axis: string,
): void {
  const rising = levels.toSorted((a, b) => a.value - b.value);
  const within = (y: number) => Math.min(bbox.top + bbox.height, Math.max(bbox.top, y));
  ctx.save();
  for (const [at, { value, color }] of rising.entries()) {
    const next = rising[at + 1];
    const bottom = within(valToPos(value, axis, true));
    const top = next === undefined ? bbox.top : within(valToPos(next.value, axis, true));
    ctx.fillStyle = `${tokenValue(color)}1f`;
    ctx.fillRect(bbox.left, top, bbox.width, bottom - top);
  }
  ctx.restore();
}

/** The index nearest to one under the pointer at which any line has a value; -1 in a gap. */
function knownNear(lines: readonly PlotLine[], at: number): number {
  const valuesAt = (index: number) => lines.map(({ values }) => values[index] ?? undefined);
  const isKnown = (index: number) => valuesAt(index).some((value) => value !== undefined);
  const isGap = (index: number) => lines.every(({ values }) => values[index] === null);
  const count = lines[0]?.values.length ?? 0;
  if (at < 0 || isGap(at)) return -1;
  for (let far = 0; far < count; far++) {
    if (isKnown(at - far)) return at - far;
    if (isKnown(at + far)) return at + far;
  }
  return -1;
}

function showTip(plot: uPlot, parts: PlotParts): void {
  const { note, lines, zone, formats, namedTimes } = parts;
  const at = knownNear(lines, plot.cursor.idx ?? -1);
  const time = plot.data[0][at];
  const said = lines.flatMap((line) => {
    const { label, unit = '', color } = line;
    const value = line.values[at];
    if (value === null || value === undefined) return [];
    const name = lines.length === 1 ? '' : `${label} `;
    return [
      {
        value,
        color,
        scale: scaleOf(line),
        words: `${name}${formats.value(value)} ${unit}`.trim(),
      },
    ];
  });
  const [first] = said;
  const { left = -1, top = 0 } = plot.cursor;
  const notes = left < 0 ? [] : notesAt(plot, parts.marks ?? [], left);
  if (first === undefined || time === undefined) {
    note.hidden = notes.length === 0;
    note.replaceChildren(notes.join('\n'));
    note.style.left = `${left + plot.over.offsetLeft}px`;
    note.style.top = `${top}px`;
    return;
  }
  note.hidden = false;
  const instant = formats.instant(new Date((namedTimes?.[at] ?? time) * 1_000).toISOString(), zone);
  const rows = said.flatMap(({ words, color }) => [
    ...(lines.length > 1 ? [swatchOf(color)] : []),
    `${words}\n`,
  ]);
  note.replaceChildren(...notes.map((one) => `${one}\n`), ...rows, instant);
  note.style.left = `${plot.valToPos(time, 'x') + plot.over.offsetLeft}px`;
  note.style.top = `${plot.valToPos(first.value, first.scale)}px`;
}

const nearPx = 6;
const noteLengthMax = 80;

/** What is said of the marks under the pointer. */
function notesAt(plot: uPlot, marks: readonly PlotMark[], left: number): string[] {
  return marks.flatMap(({ at, until, note }) => {
    if (note === undefined) return [];
    const from = plot.valToPos(at, 'x') - nearPx;
    const to = plot.valToPos(until ?? at, 'x') + nearPx;
    if (left < from || left > to) return [];
    const [line = ''] = note.split('\n');
    return line.length <= noteLengthMax ? line : `${line.slice(0, noteLengthMax - 1)}…`;
  });
}

function swatchOf(color: PlotLine['color']): HTMLElement {
  const swatch = document.createElement('i');
  swatch.style.background = tokenValue(color);
  return swatch;
}

/** A shorter drag is a click. */
const draggedPx = 4;

function select(plot: uPlot, { zoomed }: PlotParts): void {
  const { left, width } = plot.select;
  if (width < draggedPx || zoomed === undefined) return;
  const [from, to] = [plot.posToVal(left, 'x'), plot.posToVal(left + width, 'x')];
  plot.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
  zoomed(from, to);
}
