// Tile data: what the dashboard around a tile knows, and the names of its series.
import { createContext, use } from 'react';
import { useDevicesById } from '../../../api/workspace-records.ts';
import { useWords } from '../../../words/language.tsx';
import { seriesOf, type Tile, titleOf } from '../dashboard-model.ts';
import { type DeviceSeries, linesMax } from '../data/data-plan.ts';
import { useReader } from '../dashboard-requests.ts';
import { shownSeries } from '../data/tile-values.ts';
import type { DashboardData } from '../data/use-dashboard-data.ts';
import { tileWords } from './tile-words.ts';

export interface TileFrame {
  readonly workspaceId: string;
  readonly data: DashboardData;
  /** Shows the range that was dragged over, in epoch seconds; undefined goes back. */
  readonly zoom: (range?: readonly [from: number, to: number]) => void;
}

const FrameContext = createContext<TileFrame | undefined>(undefined);
export const TileFrameProvider = FrameContext;

export function useTileFrame(): TileFrame {
  const frame = use(FrameContext);
  if (frame === undefined) throw new Error('no dashboard around this tile');
  return frame;
}

export interface TileSeriesShown {
  readonly series: readonly DeviceSeries[];
  /** Not shown, above the limit of a tile. */
  readonly more: number;
  readonly nameOf: (series: DeviceSeries) => string;
}

export function useTileSeries(tile: Tile, most = linesMax): TileSeriesShown {
  const { workspaceId, data } = useTileFrame();
  const { isShared } = useReader();
  const all = shownSeries(tile, data);
  const series = all.slice(0, most);
  const rests = seriesOf(tile).map(({ tagId }) => data.tagRest.get(tagId ?? '') ?? 0);
  const rest = rests.reduce((sum, one) => sum + one, 0);
  const unnamed = series.filter(({ label }) => label === undefined).map((one) => one.deviceId);
  // A shared link reads no records: its names are those that were saved.
  const devices = useDevicesById(workspaceId, isShared ? [] : unnamed);
  return {
    series,
    more: all.length - series.length + rest,
    nameOf: ({ label, deviceId, dataKey }) => label ?? devices.get(deviceId)?.name ?? dataKey,
  };
}

/** Names a tile, also one that has neither a title nor values. */
export function useTitleOf(): (tile: Tile) => string {
  const words = useWords(tileWords);
  return (tile) => {
    const untitled = tile.kind === 'table' ? words.untitledTable : words.kinds[tile.kind];
    return titleOf(tile) || untitled;
  };
}
