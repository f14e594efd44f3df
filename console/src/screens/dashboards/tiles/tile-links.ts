// Tile links: the exploration that a tile leads to, and the request for its values.
import type { CurlRequest } from '../../../api/curl.ts';
import type { DeviceSearch } from '../../device/device-search.ts';
import { accumulatorNames, type ExploreSearch } from '../../device/explore/explore-search.ts';
import { isoInterval } from '../../device/data/time-range.ts';
import type { Tile } from '../dashboard-model.ts';
import { latestBodies, seriesBody, seriesPlan } from '../data/data-plan.ts';
import { bucketShown, shownSeries } from '../data/tile-values.ts';
import type { DashboardData } from '../data/use-dashboard-data.ts';

interface ExploreLink {
  readonly deviceId: string;
  readonly search: DeviceSearch & ExploreSearch;
}

/** The values of one topic, because an exploration has one. Undefined for a tile without values. */
export function exploreOf(tile: Tile, data: DashboardData): ExploreLink | undefined {
  const all = shownSeries(tile, data);
  const [first] = all;
  if (first === undefined || tile.kind === 'map') return undefined;
  const { bucket, isOwn } = bucketShown(tile, data);
  const series = all.filter(({ topic }) => topic === first.topic);
  const keys = [...new Set(series.map(({ dataKey }) => dataKey))].slice(0, 12);
  const others = new Set(series.map(({ deviceId }) => deviceId));
  others.delete(first.deviceId);
  const acc = accumulatorNames.find((one) => one === first.accumulator);
  return {
    deviceId: first.deviceId,
    search: {
      topic: first.topic,
      key: first.dataKey,
      keys,
      ...isoInterval(data.interval),
      ...(others.size === 0 ? {} : { with: [...others].slice(0, 12) }),
      ...(acc === undefined || acc === 'AVG' ? {} : { acc }),
      ...(isOwn && bucket !== undefined ? { bucket: bucket.iso } : {}),
    },
  };
}

export function requestOf(tile: Tile, data: DashboardData): CurlRequest | undefined {
  const [request] = seriesPlan([tile], data.tagDevices, data.interval);
  if (request !== undefined && tile.kind !== 'value') {
    const { series, bucket } = request;
    const body = seriesBody(series, { bucket, interval: data.interval, zone: data.zone });
    return { method: 'POST', path: '/v3/devices/query/batch/time-series', body };
  }
  const [body] = latestBodies([tile]);
  return body === undefined
    ? undefined
    : { method: 'POST', path: '/v3/devices/query/latest', body };
}
