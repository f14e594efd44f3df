// Map tile: devices where they are, with their states for someone signed in.
import { useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useMemo } from 'react';
import { ask, platform } from '../../../api/platform.ts';
import type { MapPoint, MapState } from '../../../map/clusters.ts';
import { mapWords } from '../../../map/map-words.ts';
import { worldOf, type WorldPoint } from '../../../map/view.ts';
import { WorldMap } from '../../../map/world-map.tsx';
import { useWords } from '../../../words/language.tsx';
import type { BoundTile } from '../../../../../src/dashboards/variables.ts';
import {
  type DeviceSeries,
  seriesOfDevice,
  tracksMax,
} from '../../../../../src/dashboards/plan.ts';
import { useReader } from '../dashboard-requests.ts';
import { newestValue } from '../data/tile-values.ts';
import type { DashboardData } from '../data/use-dashboard-data.ts';
import { useTileFrame, useTileSeries } from './tile-data.ts';
import styles from './tiles.module.css';

/** Devices of one request of records; of more, only the reported positions are shown. */
const devicesMax = 100;
const refetchMs = 60_000;
const fields = 'id,name,onlineState,uplinkMetrics';

export function MapTile({ tile }: { readonly tile: BoundTile }) {
  const words = useWords(mapWords);
  const navigate = useNavigate();
  const { isShared } = useReader();
  const { workspaceId, data } = useTileFrame();
  const { series, nameOf } = useTileSeries(tile, devicesMax);
  const records = useRecords(
    workspaceId,
    series.map(({ deviceId }) => deviceId),
  );
  const points = useMemo(
    () => series.flatMap((one) => pointOf(one, data, records.get(one.deviceId), nameOf(one)) ?? []),
    // oxlint-disable-next-line react-hooks/exhaustive-deps -- series and names follow from these
    [tile, data.latest, data.live, records],
  );
  const tracks = useMemo(
    () => (tile.track === true ? series.slice(0, tracksMax).map((one) => trackOf(one, data)) : []),
    // oxlint-disable-next-line react-hooks/exhaustive-deps -- series follow from these
    [tile, data.series],
  );
  const open = (deviceId: string | undefined) => {
    if (deviceId === undefined || isShared) return;
    void navigate({
      to: '/w/$workspaceId/devices/$deviceId/overview',
      params: { workspaceId, deviceId },
    });
  };
  if (points.length === 0)
    return <p className={styles['note']}>{data.isLoading ? '' : words.noPosition}</p>;
  // A link shows the street map of the installation: its readers have chosen nothing.
  const streetsOf = isShared ? undefined : workspaceId;
  return <WorldMap workspaceId={streetsOf} points={points} tracks={tracks} choose={open} isSmall />;
}

/** Where the device was, in the order of time: the last position of each bucket. */
function trackOf(series: DeviceSeries, data: DashboardData): readonly WorldPoint[] {
  const valuesOf = (dataKey: string) =>
    data.series.get(seriesOfDevice(series, dataKey).key)?.dataPoints['LAST'] ?? [];
  const longitudes = valuesOf('longitude');
  return valuesOf('latitude').flatMap((latitude, at) => {
    const longitude = longitudes[at] ?? null;
    if (latitude === null || longitude === null || !isPlace(latitude, longitude)) return [];
    return [worldOf({ latitude, longitude })];
  });
}

function isPlace(latitude: number, longitude: number): boolean {
  return Math.abs(latitude) <= 90 && Math.abs(longitude) <= 180;
}

interface Known {
  readonly name: string;
  readonly state: MapState;
  readonly latitude: number | null;
  readonly longitude: number | null;
}

const states: Readonly<Record<string, MapState>> = {
  ONLINE: 'online',
  OFFLINE: 'silent',
  UNKNOWN: 'never',
};

/** A shared link reads no records, only what the devices reported. */
function useRecords(workspaceId: string, ids: readonly string[]): ReadonlyMap<string, Known> {
  const { isShared } = useReader();
  const assetIds = ids.join();
  const found = useQuery({
    queryKey: ['map tile', workspaceId, assetIds],
    enabled: !isShared && assetIds !== '',
    refetchInterval: refetchMs,
    queryFn: async ({ signal }) => {
      const query = { workspaceId, assetIds, fields, size: devicesMax };
      const { content } = await ask(platform.GET('/v3/assets', { signal, params: { query } }));
      return new Map(
        content.map(({ id, name, onlineState, uplinkMetrics: metrics }) => [
          id,
          {
            name,
            state: states[onlineState] ?? 'place',
            latitude: metrics?.latitude ?? null,
            longitude: metrics?.longitude ?? null,
          },
        ]),
      );
    },
  });
  return found.data ?? nothing;
}

const nothing: ReadonlyMap<string, Known> = new Map();

function pointOf(
  series: DeviceSeries,
  data: DashboardData,
  known: Known | undefined,
  name: string,
): MapPoint | undefined {
  const { deviceId } = series;
  const reported = (dataKey: string) => {
    const value = newestValue(seriesOfDevice(series, dataKey), data)?.value;
    return typeof value === 'number' ? value : null;
  };
  const latitude = reported('latitude') ?? known?.latitude ?? null;
  const longitude = reported('longitude') ?? known?.longitude ?? null;
  if (latitude === null || longitude === null) return undefined;
  if (!isPlace(latitude, longitude)) return undefined;
  // Records know only whether a device is online now.
  const state = (data.range.at === undefined ? known?.state : undefined) ?? 'place';
  return { id: deviceId, name: known?.name ?? name, at: worldOf({ latitude, longitude }), state };
}
