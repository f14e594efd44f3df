// Tile data: what the dashboard around a tile knows, and the names of its series.
import { createContext, use } from 'react';
import { useDevicesById } from '../../../api/workspace-records.ts';
import { useWords } from '../../../words/language.tsx';
import {
  type Configuration,
  kinds,
  type Titled,
  titleOf,
} from '../../../../../src/dashboards/configuration.ts';
import { type BoundTile, sourceKey } from '../../../../../src/dashboards/variables.ts';
import { type DeviceSeries, linesMax, seriesName } from '../../../../../src/dashboards/plan.ts';
import type { AlarmSource } from '../../rules/chart-alarm/alarm-draft.ts';
import { useReader } from '../dashboard-requests.ts';
import { shownSeries } from '../data/tile-values.ts';
import type { DashboardData } from '../data/use-dashboard-data.ts';
import { tileWords } from './tile-words.ts';

/** What the menu of a tile asks the page for. */
export type TileAct = 'edit' | 'duplicate' | 'copy' | 'download';

export interface TileFrame {
  readonly workspaceId: string;
  /** With the values of variables. */
  readonly tiles: readonly BoundTile[];
  readonly data: DashboardData;
  /** What charts mark, as far as the dashboard says it. */
  readonly annotations: Configuration['annotations'];
  /** An earlier version of the dashboard, whose controls send nothing. */
  readonly isEarlier: boolean;
  /** Undefined where the dashboard is only shown; of a copy, the id is that of the copy. */
  readonly act: ((what: TileAct, tileId: string) => void) | undefined;
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
  /** Seconds after which its device counts as silent; 0 if that is not known. */
  readonly timeoutOf: (series: DeviceSeries) => number;
}

export function useTileSeries(tile: BoundTile, most = linesMax): TileSeriesShown {
  const { workspaceId, data } = useTileFrame();
  const { isShared } = useReader();
  const all = shownSeries(tile, data);
  const series = all.slice(0, most);
  const rests = tile.series.map(({ source }) => data.rest.get(sourceKey(source)) ?? 0);
  const rest = rests.reduce((sum, one) => sum + one, 0);
  const isDrawn = kinds[tile.kind].isDrawn === true;
  const asked = series.filter(({ label, isOfMany }) => isDrawn || isOfMany || label === undefined);
  // A shared link reads no records: its names are those that were saved.
  const ids = asked.flatMap(({ deviceId }) => (deviceId === '' ? [] : deviceId));
  const devices = useDevicesById(workspaceId, isShared ? [] : ids);
  return {
    series,
    more: all.length - series.length + rest,
    nameOf: (one) => seriesName(one, devices.get(one.deviceId)?.name, all),
    timeoutOf: ({ deviceId }) => devices.get(deviceId)?.onlineTimeout ?? 0,
  };
}

/** Says how many of combined devices have a value; undefined where all have one. */
export function useDevicesNote(): (series: DeviceSeries) => string | undefined {
  const words = useWords(tileWords);
  const { data } = useTileFrame();
  return ({ key }) => {
    const { devices, withValue } = data.series.get(key) ?? {};
    if (devices === undefined || withValue === undefined || withValue === devices) return undefined;
    return words.combined(withValue, devices);
  };
}

/** What an alarm can watch: a formula is no value of a device, which a rule could read. */
export function useAlarmSources(tile: BoundTile): readonly AlarmSource[] {
  const isOne = kinds[tile.kind].series === 'ONE';
  const { series, nameOf } = useTileSeries(tile, isOne ? 1 : linesMax);
  return series
    .filter(({ isFormula, combined }) => !isFormula && combined === undefined)
    .map((one) => ({
      deviceId: one.deviceId,
      topic: one.topic,
      dataKey: one.dataKey,
      title: nameOf(one),
      unit: one.unit ?? '',
    }));
}

/** Names a tile, also one that has neither a title nor values. */
export function useTitleOf(): (tile: Titled) => string {
  const words = useWords(tileWords);
  return (tile) => {
    const untitled = tile.kind === 'table' ? words.untitledTable : words.kinds[tile.kind];
    return titleOf(tile) || untitled;
  };
}
