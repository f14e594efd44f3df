// Plan tile: the floor plan of a place with its devices, or a picture with marks of newest values.
import { keepPreviousData, useQuery, useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useMemo } from 'react';
import type { BoundTile } from '../../../../../src/dashboards/variables.ts';
import { ask, platform } from '../../../api/platform.ts';
import { stateThen } from '../../../api/state-then.ts';
import type { PlanMark } from '../../../plan/paint-plan.ts';
import { PlanView } from '../../../plan/plan-view.tsx';
import { useFormats, useWords } from '../../../words/language.tsx';
import { colorOf, marksOf, usePlanState, useValueText } from '../../places/plan-colors.tsx';
import { planDevicesOf } from '../../places/plan-data.ts';
import { type Place, placeOf } from '../../places/place-requests.ts';
import { useReader } from '../dashboard-requests.ts';
import { valueAt } from '../../device/data/data-keys.ts';
import { liveKey, useLiveSamples } from '../data/use-dashboard-data.ts';
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
  const { at } = useTileFrame().data.range;
  const found = useQuery(planDevicesOf(place)).data;
  const color = colorOf(tile.colorBy);
  const { values, stateOf } = usePlanState(place, color, at);
  const text = useValueText(place, found, color);
  const own = useMarks(tile);
  const marks = useMemo(
    () => [...marksOf(found?.devices ?? [], { stateOf, values, text }), ...own],
    [found, stateOf, values, text, own],
  );
  return <Drawn tile={tile} picture={plan} marks={marks} valueText={text} />;
}

function BlobPlan({ tile, blobId }: { readonly tile: BoundTile; readonly blobId: string }) {
  const words = useWords(tileWords);
  const formats = useFormats();
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
  if (size.data === undefined) return null;
  const picture = { blobId, ...size.data };
  return <Drawn tile={tile} picture={picture} marks={marks} valueText={formats.value} />;
}

interface DrawnProps {
  readonly tile: BoundTile;
  readonly picture: NonNullable<Place['plan']>;
  readonly marks: readonly PlanMark[];
  readonly valueText: (value: number) => string;
}

/** A device that is chosen is opened. */
function Drawn({ tile, picture: { blobId, width, height }, marks, valueText }: DrawnProps) {
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
  return (
    <PlanView
      picture={picture}
      marks={marks}
      hasHeat={Boolean(tile.colorBy)}
      valueText={valueText}
      choose={open}
    />
  );
}

const none: readonly PlanMark[] = [];
const devicesPerRequest = 100;

/** Marks of the tile itself: the newest value of a device at a point of the picture. */
function useMarks(tile: BoundTile): readonly PlanMark[] {
  const { workspaceId, data } = useTileFrame();
  const { at } = data.range;
  const formats = useFormats();
  const client = useQueryClient();
  const wanted = useMemo(
    () =>
      (tile.marks ?? []).flatMap(({ deviceId, topic, ...mark }) =>
        deviceId ? [{ ...mark, deviceId, topic: topic ?? topicDefault }] : [],
      ),
    [tile.marks],
  );
  const ids = [...new Set(wanted.map(({ deviceId }) => deviceId))];
  const keys = [...new Set(wanted.map(({ dataKey }) => dataKey))];
  const queryKey = ['marked devices', workspaceId, ids, keys, at];
  const live = useLiveSamples(at === undefined ? ids : [], () => {
    void client.invalidateQueries({ queryKey });
  });
  const found = useQuery({
    queryKey,
    enabled: ids.length > 0,
    placeholderData: keepPreviousData,
    refetchInterval: at === undefined ? refreshMs : false,
    queryFn: async ({ signal }) => {
      const body = { deviceIds: ids, keys, size: ids.length, ...(at !== undefined && { at }) };
      const latest = await ask(platform.POST('/v3/devices/query/latest', { signal, body }));
      const devices = [];
      for (let from = 0; from < ids.length; from += devicesPerRequest) {
        const assetIds = ids.slice(from, from + devicesPerRequest).join();
        const query = {
          workspaceId,
          assetIds,
          fields: 'id,name,onlineState,onlineTimeout',
          size: devicesPerRequest,
        };
        const page = await ask(platform.GET('/v3/assets', { signal, params: { query } }));
        devices.push(...page.content);
      }
      const lasts = latest.content.flatMap(({ deviceId, samples: [first] }) =>
        first === undefined ? [] : [[deviceId, first.timestamp] as const],
      );
      return {
        devices: new Map(devices.map((one) => [one.id, one])),
        lasts: new Map(lasts),
        values: new Map(latest.content.map(({ deviceId, values = {} }) => [deviceId, values])),
      };
    },
  }).data;
  return useMemo(() => {
    if (found === undefined) return none;
    return wanted.flatMap(({ deviceId, topic, dataKey, x, y }): PlanMark[] => {
      const device = found.devices.get(deviceId);
      if (device === undefined) return [];
      const last = found.values.get(deviceId)?.[dataKey];
      const asked = last?.topic === topic ? last : undefined;
      const arrived = live
        .get(liveKey(deviceId, topic))
        ?.findLast((sample) => (valueAt(sample.data, dataKey) ?? null) !== null);
      const isNewer =
        arrived !== undefined &&
        Date.parse(arrived.timestamp) >= Date.parse(asked?.timestamp ?? arrived.timestamp);
      const value = isNewer ? valueAt(arrived.data, dataKey) : asked?.value;
      const text = typeof value === 'number' ? formats.value(value) : String(value);
      const label = value === undefined ? undefined : text;
      const state =
        at === undefined ? device.onlineState : stateThen(device, found.lasts.get(deviceId), at);
      const isColored = colorOf({ topic, dataKey }) === colorOf(tile.colorBy);
      const heat = isColored && typeof value === 'number' ? { value } : {};
      return [{ id: deviceId, name: device.name, x, y, state, label, ...heat }];
    });
  }, [found, wanted, live, formats, at, tile.colorBy]);
}
