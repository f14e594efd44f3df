// Plan tile: the floor plan of a place with its devices, or a picture with marks of newest values.
import { useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useMemo } from 'react';
import type { BoundTile } from '../../../../../src/dashboards/variables.ts';
import { ask, platform } from '../../../api/platform.ts';
import type { PlanMark } from '../../../plan/paint-plan.ts';
import { PlanView } from '../../../plan/plan-view.tsx';
import { useFormats, useWords } from '../../../words/language.tsx';
import { planDevicesOf } from '../../places/plan-data.ts';
import { type Place, placeOf } from '../../places/place-requests.ts';
import { useReader } from '../dashboard-requests.ts';
import { useTileFrame } from './tile-data.ts';
import { tileWords } from './tile-words.ts';
import styles from './tiles.module.css';

const refreshMs = 30_000;
const topicDefault = 'default';

export function PlanTile({ tile }: { readonly tile: BoundTile }) {
  const words = useWords(tileWords);
  const { workspaceId } = useTileFrame();
  const { isShared } = useReader();
  const source = tile.sources.find(({ kind }) => kind === 'PLACE');
  const place = useQuery({
    ...placeOf(workspaceId, source?.id ?? ''),
    enabled: source !== undefined && !isShared,
  });
  // A link reads no places, and its pictures ask without its token.
  if (isShared) return <p className={styles['note']}>{words.needsSignIn}</p>;
  if (tile.blobId) return <BlobPlan tile={tile} blobId={tile.blobId} />;
  if (source === undefined) return <p className={styles['note']}>{words.noPlace}</p>;
  if (place.error !== null)
    return (
      <p role="alert" className={styles['note']}>
        {place.error.message}
      </p>
    );
  if (place.data === undefined) return null;
  if (place.data.plan === null) return <p className={styles['note']}>{words.noPlan}</p>;
  return <PlanOfPlace tile={tile} place={place.data} plan={place.data.plan} />;
}

interface PlanOfPlaceProps {
  readonly tile: BoundTile;
  readonly place: Place;
  readonly plan: NonNullable<Place['plan']>;
}

function PlanOfPlace({ tile, place, plan }: PlanOfPlaceProps) {
  const found = useQuery(planDevicesOf(place));
  const own = useMarks(tile);
  const marks = useMemo(() => {
    const placed = (found.data?.devices ?? []).flatMap(
      ({ id, name, onlineState, planPosition: at }): PlanMark[] =>
        at === null ? [] : [{ id, name, ...at, state: onlineState }],
    );
    return [...placed, ...own];
  }, [found.data, own]);
  return <Drawn blobId={plan.blobId} width={plan.width} height={plan.height} marks={marks} />;
}

function BlobPlan({ tile, blobId }: { readonly tile: BoundTile; readonly blobId: string }) {
  const words = useWords(tileWords);
  const marks = useMarks(tile);
  const size = useQuery({
    queryKey: ['picture size', blobId],
    staleTime: Number.POSITIVE_INFINITY,
    queryFn: async () => {
      const image = new Image();
      image.src = `/v3/blobs/${blobId}/content`;
      await image.decode();
      return { width: image.naturalWidth || 1, height: image.naturalHeight || 1 };
    },
  });
  if (size.error !== null)
    return (
      <p role="alert" className={styles['note']}>
        {words.noPicture}
      </p>
    );
  return size.data === undefined ? null : <Drawn blobId={blobId} {...size.data} marks={marks} />;
}

interface DrawnProps {
  readonly blobId: string;
  readonly width: number;
  readonly height: number;
  readonly marks: readonly PlanMark[];
}

/** A device that is chosen is opened. */
function Drawn({ blobId, width, height, marks }: DrawnProps) {
  const { workspaceId } = useTileFrame();
  const navigate = useNavigate();
  const open = (deviceId: string | undefined) => {
    if (deviceId === undefined) return;
    void navigate({
      to: '/w/$workspaceId/devices/$deviceId/overview',
      params: { workspaceId, deviceId },
    });
  };
  const picture = { src: `/v3/blobs/${blobId}/content`, width, height };
  return <PlanView picture={picture} marks={marks} choose={open} />;
}

const none: readonly PlanMark[] = [];
const devicesPerRequest = 100;

/** Marks of the tile itself: the newest value of a device at a point of the picture. */
function useMarks({ marks }: BoundTile): readonly PlanMark[] {
  const { workspaceId } = useTileFrame();
  const formats = useFormats();
  const wanted = (marks ?? []).flatMap(({ deviceId, topic, dataKey, x, y }) =>
    deviceId ? [{ deviceId, topic: topic ?? topicDefault, dataKey, x, y }] : [],
  );
  const ids = [...new Set(wanted.map(({ deviceId }) => deviceId))];
  const keys = [...new Set(wanted.map(({ dataKey }) => dataKey))];
  const found = useQuery({
    queryKey: ['marked devices', workspaceId, ids, keys],
    enabled: ids.length > 0,
    refetchInterval: refreshMs,
    queryFn: async ({ signal }) => {
      const body = { deviceIds: ids, keys, size: ids.length };
      const latest = await ask(platform.POST('/v3/devices/query/latest', { signal, body }));
      const devices = [];
      for (let at = 0; at < ids.length; at += devicesPerRequest) {
        const assetIds = ids.slice(at, at + devicesPerRequest).join();
        const query = {
          workspaceId,
          assetIds,
          fields: 'id,name,onlineState',
          size: devicesPerRequest,
        };
        const page = await ask(platform.GET('/v3/assets', { signal, params: { query } }));
        devices.push(...page.content);
      }
      return {
        devices: new Map(devices.map((one) => [one.id, one])),
        values: new Map(latest.content.map(({ deviceId, values = {} }) => [deviceId, values])),
      };
    },
  }).data;
  if (found === undefined) return none;
  return wanted.flatMap(({ deviceId, topic, dataKey, x, y }): PlanMark[] => {
    const device = found.devices.get(deviceId);
    if (device === undefined) return [];
    const last = found.values.get(deviceId)?.[dataKey];
    const value = last?.topic === topic ? last.value : undefined;
    const text = typeof value === 'number' ? formats.value(value) : String(value);
    const label = value === undefined ? undefined : text;
    return [{ id: deviceId, name: device.name, x, y, state: device.onlineState, label }];
  });
}
