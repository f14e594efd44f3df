// Map: the devices of a workspace where they are, with the list of those in view.
import { useNavigate, useParams, useSearch } from '@tanstack/react-router';
import { useCallback, useEffect, useMemo, useRef, useState } from 'react';
import type { CurlRequest } from '../../api/curl.ts';
import { Sheet } from '../../parts/card.tsx';
import { Segments } from '../../parts/choice.tsx';
import { Button } from '../../parts/button.tsx';
import { CurlButton } from '../../parts/curl-button.tsx';
import { Page } from '../../parts/page.tsx';
import { SearchField } from '../../parts/search-field.tsx';
import { Bone, Empty, Failure } from '../../parts/states.tsx';
import { mapWords } from '../../map/map-words.ts';
import { screenOf, type Size, type View } from '../../map/view.ts';
import { WorldMap } from '../../map/world-map.tsx';
import { useFormats, useWords } from '../../words/language.tsx';
import { deviceStates, listBody } from '../devices/device-search.ts';
import { DeviceCard } from './device-card.tsx';
import { DevicesInView } from './devices-in-view.tsx';
import styles from './map.module.css';
import { mapPageWords } from './map-page-words.ts';
import type { MapSearch } from './map-search.ts';
import { type DevicePoint, type Positions, usePositions } from './positions.ts';
import { atOf, viewOf } from './shown-place.ts';

const route = '/signed-in/shell/w/$workspaceId/map';
/** The address follows once the map rests. */
const restMs = 400;

export function DeviceMap() {
  const words = useWords(mapPageWords);
  const { workspaceId } = useParams({ from: route });
  const search = useSearch({ from: route });
  const navigate = useNavigate({ from: '/w/$workspaceId/map' });
  const positions = usePositions(workspaceId, search);
  const change = useCallback(
    (next: MapSearch) => void navigate({ search: next, replace: true, resetScroll: false }),
    [navigate],
  );
  const request: CurlRequest = {
    method: 'POST',
    path: '/v3/assets/list?fields=id,name,deviceId,onlineState,uplinkMetrics',
    body: listBody(workspaceId, search),
  };
  return (
    <Page
      title={words.title}
      name={words.title}
      path={[words.title]}
      isWide
      lead={<Lead positions={positions} />}
      actions={<CurlButton request={request} />}
    >
      <Filter search={search} change={change} />
      {positions.error !== null && (
        <Sheet>
          <Failure error={positions.error} retry={positions.retry} curl={request} />
        </Sheet>
      )}
      <Shown workspaceId={workspaceId} positions={positions} search={search} change={change} />
    </Page>
  );
}

function Lead({
  positions: { points, total, isCut, readCount },
}: {
  readonly positions: Positions;
}) {
  const words = useWords(mapPageWords);
  const { count } = useFormats();
  if (total === undefined) return <Bone width="12em" />;
  const said = words.shown(count(points.length), total, count(total));
  return isCut ? `${said}; ${words.cut(count(readCount))}` : said;
}

interface FilterProps {
  readonly search: MapSearch;
  readonly change: (search: MapSearch) => void;
}

function Filter({ search, change }: FilterProps) {
  const words = useWords(mapPageWords);
  const states = useWords(mapWords).states;
  const { q, state, filter, ...others } = search;
  const kept = {
    ...others,
    ...(q === undefined ? {} : { q }),
    ...(state === undefined ? {} : { state }),
    ...(filter === undefined ? {} : { filter }),
  };
  const without = (name: 'q' | 'state' | 'filter') => {
    const { [name]: _, ...rest } = kept;
    return rest;
  };
  return (
    <div className={styles['tools']}>
      <SearchField
        label={words.search}
        value={q ?? ''}
        change={(typed) => change(typed === '' ? without('q') : { ...kept, q: typed })}
      />
      <Segments
        label={words.state}
        value={state ?? 'all'}
        options={[
          { value: 'all' as const, label: words.all },
          ...deviceStates.map((value) => ({ value, label: states[value] })),
        ]}
        choose={(chosen) =>
          change(chosen === 'all' ? without('state') : { ...kept, state: chosen })
        }
      />
      {filter !== undefined && (
        <Button onClick={() => change(without('filter'))}>{words.withoutFilter}</Button>
      )}
    </div>
  );
}

interface ShownProps extends FilterProps {
  readonly workspaceId: string;
  readonly positions: Positions;
}

function Shown({ workspaceId, positions, search, change }: ShownProps) {
  const words = useWords(mapPageWords);
  const { points, total, isLoading } = positions;
  const [wanted, setWanted] = useState<View | undefined>(() => viewOf(search.at));
  const [inView, setInView] = useState<readonly DevicePoint[]>([]);
  const settle = useSettledView(points, setInView, (at) => change({ ...search, at }));
  const chosen = useMemo(
    () => points.find(({ id }) => id === search.device),
    [points, search.device],
  );
  const choose = (id: string | undefined) => {
    const { device: _, ...others } = search;
    change(id === undefined ? others : { ...others, device: id });
  };
  if (points.length === 0 && !isLoading && total !== undefined && positions.error === null)
    return (
      <Sheet>
        {total === 0 && (search.q !== undefined || search.state !== undefined) ? (
          <Empty title={words.noMatch} note={words.noMatchNote} />
        ) : (
          <Empty title={words.empty} note={words.emptyNote} />
        )}
      </Sheet>
    );
  return (
    <div className={styles['both']}>
      <div className={styles['map']}>
        <WorldMap
          points={points}
          chosenId={search.device}
          choose={choose}
          wanted={wanted}
          onView={settle}
        >
          {chosen !== undefined && (
            <DeviceCard workspaceId={workspaceId} point={chosen} close={() => choose(undefined)} />
          )}
        </WorldMap>
      </div>
      <DevicesInView
        points={inView}
        open={(point) => {
          setWanted({ center: point.at, zoom: Math.max(closeZoom, wanted?.zoom ?? 0) });
          choose(point.id);
        }}
      />
    </div>
  );
}

/** A device that is chosen in the list is shown with the town around it. */
const closeZoom = 11;

/** What is in view, and its address, once the map does not move for a moment. */
function useSettledView(
  points: readonly DevicePoint[],
  show: (inView: readonly DevicePoint[]) => void,
  keep: (at: string) => void,
) {
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  const latest = useRef({ points, show, keep });
  const shown = useRef<{ readonly view: View; readonly size: Size }>(undefined);
  useEffect(() => {
    latest.current = { points, show, keep };
  });
  useEffect(() => () => clearTimeout(timer.current), []);
  const look = useCallback(() => {
    const { current } = shown;
    if (current !== undefined) latest.current.show(inViewOf(latest.current.points, current));
  }, []);
  useEffect(look, [points, look]);
  return useCallback(
    (view: View, size: Size) => {
      if (size.width === 0) return;
      const isFirst = shown.current === undefined;
      shown.current = { view, size };
      if (isFirst) look();
      clearTimeout(timer.current);
      timer.current = setTimeout(() => {
        look();
        if (!isFirst) latest.current.keep(atOf(view));
      }, restMs);
    },
    [look],
  );
}

function inViewOf(
  points: readonly DevicePoint[],
  { view, size }: { readonly view: View; readonly size: Size },
): readonly DevicePoint[] {
  return points.filter(({ at }) => {
    const { x, y } = screenOf(view, size, at);
    return x >= 0 && y >= 0 && x <= size.width && y <= size.height;
  });
}
