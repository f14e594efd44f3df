// Tile shapes: histograms, heatmaps, and states over time as areas and words on a page.
import type { Interval } from '../buckets.ts';
import { type Heatmap, type Histogram, shareOf } from '../distribution.ts';
import type { PlotColor } from '../plot.ts';
import { stateColors, type StateRow } from '../states.ts';
import { type DrawnTile, numberText, timeLabel, valueText } from './document.ts';
import {
  type Box,
  chartShapes,
  inkOf,
  inks,
  type Point,
  type Shape,
  shortened,
  timeAxis,
} from './chart-shapes.ts';

/** What is drawn of a tile in the box, from back to front. */
export function shapesOf(tile: DrawnTile, box: Box, zone: string): readonly Shape[] {
  if (tile.kind === 'chart') return chartShapes(tile.plot, box, zone);
  if (tile.kind === 'histogram') return histogramShapes(tile.histogram, tile.unit, tile.color, box);
  if (tile.kind === 'heatmap') return heatmapShapes(tile.heatmap, tile.unit, tile.color, box, zone);
  const values = tile.rows.flatMap(({ stretches }) => stretches.map(({ value }) => value));
  const colorOf = stateColors(tile.thresholds, values);
  return timelineShapes(tile.rows, colorOf, tile.interval, box, zone);
}

const fontSize = 7;
const axisHeight = 14;

function area({ x, y, width, height }: Box, color: string, opacity = 1): Shape {
  const points: Point[] = [
    [x, y],
    [x + width, y],
    [x + width, y + height],
    [x, y + height],
  ];
  return { kind: 'area', points, color, opacity };
}

function words(
  text: string,
  at: Point,
  align: 'left' | 'center' | 'right',
  color: string = inks.faint,
): Shape {
  return { kind: 'text', text, at, align, size: fontSize, color };
}

/** A bar for each bin, with the ends of the range and the count of the highest bin. */
export function histogramShapes(
  { from, width, counts }: Histogram,
  unit: string,
  color: PlotColor,
  box: Box,
): readonly Shape[] {
  const most = Math.max(...counts);
  const height = box.height - axisHeight - fontSize - 4;
  const top = box.y + fontSize + 4;
  const binWidth = box.width / counts.length;
  const bars = counts.flatMap((count, at) => {
    const share = count / most;
    const bar = { x: box.x + at * binWidth, y: top + height * (1 - share) };
    return count === 0
      ? []
      : [area({ ...bar, width: binWidth * 0.92, height: height * share }, inkOf(color))];
  });
  const bottom = top + height;
  const total = counts.reduce((sum, count) => sum + count, 0);
  return [
    ...bars,
    {
      kind: 'line',
      points: [
        [box.x, bottom],
        [box.x + box.width, bottom],
      ],
      color: inks.line,
      width: 0.5,
    },
    words(
      `up to ${numberText(most)} of ${numberText(total)} values`,
      [box.x, box.y + fontSize],
      'left',
    ),
    words(numberText(from), [box.x, bottom + 10], 'left'),
    words(
      `${numberText(from + width * counts.length)} ${unit}`.trim(),
      [box.x + box.width, bottom + 10],
      'right',
    ),
  ];
}

const hours = 24;
const hoursWidth = 26;
const dayLabelWidth = 40;
/** The least value is visible too. */
const palest = 0.08;

/** Days from left to right, hours from top to bottom, the darker the greater. */
export function heatmapShapes(
  heatmap: Heatmap,
  unit: string,
  color: PlotColor,
  box: Box,
  zone: string,
): readonly Shape[] {
  const { cells, days, least, greatest } = heatmap;
  const grid = {
    x: box.x + hoursWidth,
    y: box.y + fontSize + 4,
    width: box.width - hoursWidth,
    height: box.height - axisHeight - fontSize - 4,
  };
  const [width, height] = [grid.width / days, grid.height / hours];
  const ink = inkOf(color);
  const squares = cells.map(({ day, hour, value }) =>
    area(
      { x: grid.x + day * width, y: grid.y + hour * height, width, height },
      ink,
      palest + (1 - palest) * shareOf(heatmap, value),
    ),
  );
  const firstOfDay = new Map(cells.map((cell) => [cell.day, cell]));
  const every = Math.ceil(days / Math.max(1, Math.floor(grid.width / dayLabelWidth)));
  const dayNames = [...firstOfDay.values()]
    .filter(({ day }) => day % every === 0)
    .map(({ day, timestamp }) =>
      words(
        timeLabel(Date.parse(timestamp), zone, true),
        [grid.x + (day + 0.5) * width, grid.y + grid.height + 10],
        'center',
      ),
    );
  const hourNames = [0, 6, 12, 18].map((hour) =>
    words(
      `${String(hour).padStart(2, '0')}:00`,
      [grid.x - 4, grid.y + hour * height + fontSize],
      'right',
    ),
  );
  const span = `${numberText(least)} – ${numberText(greatest)} ${unit}`.trim();
  return [
    ...squares,
    ...hourNames,
    ...dayNames,
    words(span, [box.x + box.width, box.y + fontSize], 'right'),
  ];
}

const namesWidth = 90;
const rowMost = 22;
const letterWidth = fontSize * 0.54;

/** A row for each series; a word stands where it has room. */
export function timelineShapes(
  rows: readonly StateRow[],
  colorOf: (value: unknown) => PlotColor,
  { fromMs, toMs }: Interval,
  box: Box,
  zone: string,
): readonly Shape[] {
  const [left, width] = [box.x + namesWidth, box.width - namesWidth - 4];
  const rowHeight = Math.min(rowMost, (box.height - axisHeight) / Math.max(1, rows.length));
  const at = (ms: number) => left + ((ms - fromMs) / (toMs - fromMs)) * width;
  const shapes = rows.flatMap(({ label, stretches }, row): Shape[] => {
    const y = box.y + row * rowHeight;
    const middle = y + rowHeight / 2 + fontSize / 3;
    const name = words(shortened(label, namesWidth - 8), [box.x, middle], 'left');
    const states = stretches.flatMap((stretch): Shape[] => {
      const place = {
        x: at(stretch.fromMs),
        y: y + 1,
        width: at(stretch.toMs) - at(stretch.fromMs),
        height: rowHeight - 2,
      };
      const word = valueText(stretch.value);
      const hasRoom = word.length * letterWidth + 4 < place.width;
      const color = inkOf(colorOf(stretch.value));
      return [
        area(place, color, 0.3),
        area({ ...place, width: Math.min(0.8, place.width) }, color),
        ...(hasRoom ? [words(word, [place.x + 3, middle], 'left', inks.text)] : []),
      ];
    });
    return [name, ...states];
  });
  const below = { x: left, y: box.y, width, height: rows.length * rowHeight };
  const scale = {
    least: fromMs / 1_000,
    most: toMs / 1_000,
    at: (seconds: number) => at(seconds * 1_000),
  };
  return [...shapes, ...timeAxis(scale, below, zone)];
}
