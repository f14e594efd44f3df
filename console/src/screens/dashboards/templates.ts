// Templates: first dashboards, filled with devices of the workspace that have sent numbers.
import { freePlace } from './grid/layout.ts';
import {
  labelOf,
  type Tile,
  type TileKind,
  type TileSeries,
} from '../../../../src/dashboards/configuration.ts';
import { kinds } from '../../../../src/dashboards/kinds.ts';

export const templateNames = ['glance', 'device', 'compare', 'empty'] as const;
export type TemplateName = (typeof templateNames)[number];

/** A number that a device has sent, with what its schema says of it. */
export interface MeasuredKey {
  readonly topic: string;
  readonly key: string;
  readonly title: string;
  readonly unit: string;
}

export interface MeasuringDevice {
  readonly id: string;
  readonly name: string;
  /** Numbers of its newest samples. */
  readonly keys: readonly MeasuredKey[];
}

const devicesMax = 6;
const figuresMax = 4;
const tableMax = 20;

export function tilesOf(template: TemplateName, devices: readonly MeasuringDevice[]): Tile[] {
  const measuring = devices.filter(({ keys }) => keys.length > 0);
  const [first] = measuring;
  if (template === 'empty' || first === undefined) return [];
  if (template === 'device') return deviceTiles(measuring.reduce(more));
  return template === 'glance' ? glanceTiles(measuring) : compareTiles(measuring);
}

function glanceTiles(devices: readonly MeasuringDevice[]): Tile[] {
  const tiles = createTiles();
  const figures = devices.slice(0, figuresMax).map((device) => firstSeries(device));
  for (const series of figures) tiles.add('value', [series], labelOf(series));
  const [main] = figures;
  const key = devices[0]?.keys[0];
  if (main === undefined || key === undefined) return [];
  const alike = figures.filter(({ dataKey }) => dataKey === main.dataKey);
  tiles.add('line', alike, alike.length === 1 ? labelOf(main) : key.title);
  tiles.add(
    'table',
    devices.slice(0, tableMax).map((device) => firstSeries(device)),
  );
  return tiles.made;
}

function deviceTiles(device: MeasuringDevice): Tile[] {
  const tiles = createTiles();
  const all = device.keys.map((key) => seriesOf(device, key, key.title));
  for (const series of all.slice(0, figuresMax)) tiles.add('value', [series], labelOf(series));
  for (const series of all.slice(0, devicesMax)) tiles.add('line', [series], labelOf(series));
  return tiles.made;
}

function compareTiles(devices: readonly MeasuringDevice[]): Tile[] {
  const tiles = createTiles();
  const common = commonKey(devices);
  const having = devices.flatMap((device) => {
    const found = device.keys.find((key) => isSameKey(key, common));
    return found === undefined ? [] : [seriesOf(device, found, device.name)];
  });
  const shown = having.slice(0, devicesMax);
  const [first] = shown;
  if (first === undefined) return [];
  const title = common.title;
  tiles.add('line', shown, title, [12, 5]);
  tiles.add('bar', shown.slice(0, figuresMax), title);
  tiles.add('table', having.slice(0, tableMax), title);
  return tiles.made;
}

/** The key that most devices have; of several such keys the one that is met first. */
function commonKey(devices: readonly MeasuringDevice[]): MeasuredKey {
  const all = devices.flatMap(({ keys }) => keys);
  const countOf = (key: MeasuredKey) => all.filter((other) => isSameKey(other, key)).length;
  const counted = all.map((key) => ({ key, count: countOf(key) }));
  return counted.reduce((best, one) => (one.count > best.count ? one : best)).key;
}

const isSameKey = (a: MeasuredKey, b: MeasuredKey) => a.topic === b.topic && a.key === b.key;

function more(best: MeasuringDevice, one: MeasuringDevice): MeasuringDevice {
  return one.keys.length > best.keys.length ? one : best;
}

function firstSeries(device: MeasuringDevice): TileSeries {
  const [key] = device.keys;
  if (key === undefined) throw new Error('a device without numbers is in no template');
  return { ...seriesOf(device, key, device.name) };
}

function seriesOf({ id }: MeasuringDevice, key: MeasuredKey, label: string): TileSeries {
  const unit = key.unit === '' ? {} : { unit: key.unit };
  return { deviceId: id, topic: key.topic, dataKey: key.key, label, ...unit };
}

function createTiles() {
  const made: Tile[] = [];
  return {
    made,
    add(
      kind: TileKind,
      series: readonly TileSeries[],
      title?: string,
      size: readonly [number, number] = kinds[kind].size,
    ) {
      made.push({
        id: `tile-${made.length + 1}`,
        kind,
        ...freePlace(made, size),
        series: [...series],
        ...(title === undefined ? {} : { title }),
      });
    },
  };
}
