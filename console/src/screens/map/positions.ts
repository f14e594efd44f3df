// Positions: slim rows of all devices under a filter, page by page, kept current by the live stream, or as of an earlier moment.
import { keepPreviousData, useQueries, useQuery, useQueryClient } from '@tanstack/react-query';
import { useEffect, useMemo, useRef, useState } from 'react';
import type { components } from '../../../generated/interface-types.ts';
import { ask, platform } from '../../api/platform.ts';
import { stateThen } from '../../api/state-then.ts';
import { type StoredState, storedStates } from '../../api/stored-state.ts';
import { type LiveEvent, type LiveSample, useStream } from '../../api/stream.ts';
import type { MapPoint, mapStates } from '../../map/clusters.ts';
import { worldOf } from '../../map/view.ts';
import { listBody } from '../devices/device-list.ts';
import type { MapSearch } from './map-search.ts';

type WholeDevice = components['schemas']['Device'];

const rowFields = [
  'id',
  'name',
  'deviceId',
  'onlineState',
  'onlineTimeout',
  'uplinkMetrics',
] as const;
export type DeviceRow = Pick<WholeDevice, (typeof rowFields)[number]>;

const pageRows = 1_000;
/** 20,000 devices; of more the first ones are shown, and the page says so. */
const pagesMax = 20;
const rereadMs = 120_000;
const batchMs = 300;
const samplesPerSecond = 50;

export type ListedState = (typeof mapStates)[number];

export interface DevicePoint extends MapPoint {
  readonly state: ListedState;
  readonly latitude: number;
  readonly longitude: number;
  /** When it reported the position; null for the time of its last uplink. */
  readonly knownAt: string | null;
  readonly lastHeard: string | null;
}

export interface Positions {
  readonly points: readonly DevicePoint[];
  /** Under the filter, with and without a position. */
  readonly total: number | undefined;
  readonly readCount: number;
  readonly isLoading: boolean;
  readonly isCut: boolean;
  readonly error: Error | null;
  readonly retry: () => void;
}

export function usePositions(workspaceId: string, search: MapSearch): Positions {
  const { at, state } = search;
  const { rows, total, pages, ...found } = useRows(workspaceId, search);
  const { states, places } = useChanges(workspaceId, at === undefined);
  // Of now, only those without an uplink need more than their rows.
  const asked = useMemo(
    () =>
      rows
        .filter(({ uplinkMetrics }) => at !== undefined || uplinkMetrics === null)
        .map(({ id }) => id),
    [rows, at],
  );
  const { data: stored, error, refetch } = useQuery(storedStates(asked, at));
  const points = useMemo(() => {
    if (at === undefined)
      return rows.flatMap((row) => {
        const { id } = row;
        return pointOf(row, states.get(id), places.get(id), stored?.get(id)?.position) ?? [];
      });
    if (stored === undefined) return [];
    const then = rows.flatMap((row) => pointThen(row, stored.get(row.id), at) ?? []);
    return state === undefined ? then : then.filter((point) => point.state === state);
  }, [rows, states, places, stored, at, state]);
  const isCut = total !== undefined && total > pages * pageRows;
  const shown = { points, total, readCount: rows.length, isCut };
  if (at === undefined) return { ...shown, ...found };
  return {
    ...shown,
    isLoading: found.isLoading || (asked.length > 0 && stored === undefined),
    error: found.error ?? error,
    retry() {
      found.retry();
      void refetch();
    },
  };
}

/** Body of `POST /v3/assets/list`. The platform knows states only of now. */
export function mapBody(workspaceId: string, { q, state, filter, at }: MapSearch) {
  return listBody(workspaceId, {
    ...(q !== undefined && { q }),
    ...(filter !== undefined && { filter }),
    ...(state !== undefined && at === undefined && { state }),
  });
}

function useRows(workspaceId: string, search: MapSearch) {
  const body = mapBody(workspaceId, search);
  useReread(search.at);
  const queryOf = (page: number) => ({
    queryKey: ['map devices', body, page],
    placeholderData: keepPreviousData,
    staleTime: rereadMs,
    refetchInterval: rereadMs,
    queryFn: ({ signal }: { readonly signal: AbortSignal }) => {
      const query = { page, size: pageRows, sort: 'name,asc', fields: rowFields.join() };
      return ask(platform.POST('/v3/assets/list', { signal, params: { query }, body }));
    },
  });
  const [known, setKnown] = useState(1);
  const found = useQueries({
    queries: Array.from({ length: known }, (_, page) => queryOf(page)),
    combine: combined,
  });
  const wanted = Math.min(pagesMax, Math.max(1, found.pages));
  // The first page says how many there are.
  if (wanted !== known && found.pages > 0) setKnown(wanted);
  const { answers, rows, total, isLoading, error } = found;
  return {
    rows,
    total,
    isLoading,
    error,
    pages: known,
    retry() {
      for (const one of answers) void one.refetch();
    },
  };
}

/** Of what changed while an earlier moment was shown nothing was heard. */
function useReread(at: string | undefined): void {
  const known = useQueryClient();
  const isPast = at !== undefined;
  useEffect(() => {
    if (!isPast) return undefined;
    return () => void known.invalidateQueries({ queryKey: ['map devices'] });
  }, [isPast, known]);
}

interface PageAnswer {
  readonly data:
    | { readonly content: readonly DeviceRow[]; readonly totalElements: number }
    | undefined;
  readonly error: Error | null;
  readonly isPending: boolean;
  readonly refetch: () => unknown;
}

function combined(answers: readonly PageAnswer[]) {
  const total = answers[0]?.data?.totalElements;
  return {
    answers,
    total,
    rows: answers.flatMap(({ data }) => data?.content ?? []),
    pages: total === undefined ? 0 : Math.ceil(total / pageRows),
    isLoading: answers.some(({ isPending }) => isPending),
    error: answers.find(({ error }) => error !== null)?.error ?? null,
  };
}

const stateNames: Readonly<Record<string, ListedState>> = {
  ONLINE: 'online',
  OFFLINE: 'silent',
  UNKNOWN: 'never',
};

interface Reported {
  readonly latitude: number;
  readonly longitude: number;
  readonly at: string;
}

function pointOf(
  { id, name, onlineState, uplinkMetrics }: DeviceRow,
  changed: ListedState | undefined,
  reported: Reported | undefined,
  stored: Reported | undefined,
): DevicePoint | undefined {
  return pointAt({ id, name }, reported ?? uplinkMetrics ?? stored, {
    state: changed ?? stateNames[onlineState] ?? 'never',
    knownAt: reported?.at ?? uplinkMetrics?.knownAt?.['latitude'] ?? stored?.at ?? null,
    lastHeard: reported?.at ?? uplinkMetrics?.timestamp ?? null,
  });
}

/** By stored samples, and a position that the platform knew already at the moment. */
function pointThen(
  row: DeviceRow,
  stored: StoredState | undefined,
  at: string,
): DevicePoint | undefined {
  const { id, name, uplinkMetrics } = row;
  const knownAt = uplinkMetrics?.knownAt?.['latitude'] ?? uplinkMetrics?.timestamp;
  const isOlder = knownAt !== undefined && Date.parse(knownAt) <= Date.parse(at);
  return pointAt({ id, name }, stored?.position ?? (isOlder ? uplinkMetrics : null), {
    state: stateNames[stateThen(row, stored?.lastData, at)] ?? 'never',
    knownAt: stored?.position?.at ?? knownAt ?? null,
    lastHeard: stored?.lastData ?? null,
  });
}

/** Undefined for a device without a position. */
function pointAt(
  { id, name }: Pick<DeviceRow, 'id' | 'name'>,
  position: Partial<Record<'latitude' | 'longitude', number | null>> | null | undefined,
  shown: Pick<DevicePoint, 'state' | 'knownAt' | 'lastHeard'>,
): DevicePoint | undefined {
  const { latitude = null, longitude = null } = position ?? {};
  if (latitude === null || longitude === null) return undefined;
  return { id, name, latitude, longitude, at: worldOf({ latitude, longitude }), ...shown };
}

interface Changes {
  readonly states: ReadonlyMap<string, ListedState>;
  readonly places: ReadonlyMap<string, Reported>;
}

const unchanged: Changes = { states: new Map(), places: new Map() };

/** States and positions that changed since the page was opened, drawn several at a time; none while not followed. */
function useChanges(workspaceId: string, isFollowed: boolean): Changes {
  const [changes, setChanges] = useState(unchanged);
  const [wasFollowed, setWasFollowed] = useState(isFollowed);
  if (isFollowed !== wasFollowed) {
    setWasFollowed(isFollowed);
    setChanges(unchanged);
  }
  const waiting = useRef({
    states: new Map<string, ListedState>(),
    places: new Map<string, Reported>(),
  });
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  useEffect(() => () => clearTimeout(timer.current), []);
  const plan = () => {
    timer.current ??= setTimeout(() => {
      timer.current = undefined;
      const { states, places } = waiting.current;
      waiting.current = { states: new Map(), places: new Map() };
      setChanges((before) => ({
        states: new Map([...before.states, ...states]),
        places: new Map([...before.places, ...places]),
      }));
    }, batchMs);
  };
  const kinds = ['SAMPLE', 'DEVICE_STATE'];
  useStream(isFollowed ? { workspaceId, kinds, perSecond: samplesPerSecond } : undefined, {
    onEvent(event: LiveEvent) {
      const { deviceId, state } = contentOf(event);
      const name = stateNames[state];
      if (event.kind !== 'DEVICE_STATE' || name === undefined) return;
      waiting.current.states.set(deviceId, name);
      plan();
    },
    onSample({ deviceId, timestamp, data }: LiveSample) {
      const { latitude, longitude } = data;
      if (typeof latitude !== 'number' || typeof longitude !== 'number') return;
      if (Math.abs(latitude) > 90 || Math.abs(longitude) > 180) return;
      waiting.current.places.set(deviceId, { latitude, longitude, at: timestamp });
      plan();
    },
  });
  return changes;
}

function contentOf(event: LiveEvent): { readonly deviceId: string; readonly state: string } {
  return { deviceId: String(event['deviceId']), state: String(event['state']) };
}
