// Kind table: what draws each kind of tile; a new kind is one row and one file.
import type { ComponentType } from 'react';
import type { TileKind } from '../../../../../src/dashboards/configuration.ts';
import type { BoundTile } from '../../../../../src/dashboards/variables.ts';
import { late } from '../../../ui/late.tsx';
import { ChartTile } from './chart-tile.tsx';
import { TextTile } from './text-tile.tsx';
import { StateTile, TableTile, ValueTile } from './value-tiles.tsx';

interface TileProps {
  readonly tile: BoundTile;
  /** The place among the tiles of values, which gives its color. */
  readonly colorAt: number;
}

const MapTile = late<TileProps>('MapTile', async () => (await import('./map-tile.tsx')).MapTile);
const TimelineTile = late<TileProps>(
  'TimelineTile',
  async () => (await import('./timeline-tile.tsx')).TimelineTile,
);
const AlarmsTile = late<TileProps>(
  'AlarmsTile',
  async () => (await import('./alarms-tile.tsx')).AlarmsTile,
);
const GaugeTile = late<TileProps>(
  'GaugeTile',
  async () => (await import('./gauge-tile.tsx')).GaugeTile,
);
const HeatmapTile = late<TileProps>(
  'HeatmapTile',
  async () => (await import('./heatmap-tile.tsx')).HeatmapTile,
);
const HistogramTile = late<TileProps>(
  'HistogramTile',
  async () => (await import('./histogram-tile.tsx')).HistogramTile,
);
const DevicesTile = late<TileProps>(
  'DevicesTile',
  async () => (await import('./devices-tile.tsx')).DevicesTile,
);
const LinksTile = late<TileProps>(
  'LinksTile',
  async () => (await import('./links-tile.tsx')).LinksTile,
);

const ControlTile = late<TileProps>(
  'ControlTile',
  async () => (await import('./control-tile.tsx')).ControlTile,
);

const PlanTile = late<TileProps>(
  'PlanTile',
  async () => (await import('./plan-tile.tsx')).PlanTile,
);

const drawings: Readonly<Record<TileKind, ComponentType<TileProps>>> = {
  value: ValueTile,
  line: ChartTile,
  bar: ChartTile,
  state: StateTile,
  map: MapTile,
  table: TableTile,
  text: TextTile,
  timeline: TimelineTile,
  alarms: AlarmsTile,
  gauge: GaugeTile,
  heatmap: HeatmapTile,
  histogram: HistogramTile,
  devices: DevicesTile,
  plan: PlanTile,
  control: ControlTile,
  links: LinksTile,
};

export function TileContent(props: TileProps) {
  const Drawing = drawings[props.tile.kind];
  return <Drawing {...props} />;
}
