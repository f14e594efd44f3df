// Map: the devices of a workspace where they are, with the list of those in view.
import { Link, useNavigate, useParams, useSearch } from '@tanstack/react-router';
import { X } from 'lucide-react';
import { useCallback, useEffect, useMemo, useRef, useState } from 'react';
import type { CurlRequest } from '../../api/curl.ts';
import { StateMark, WorldMap } from '../../map/world-map.tsx';
import { mapWords } from '../../map/map-words.ts';
import { placeOf, screenOf, type Size, type View, worldOf, zoomMax } from '../../map/view.ts';
import { Ago, ShownMoment } from '../../ui/ago.tsx';
import { Button } from '../../ui/button.tsx';
import { Sheet } from '../../ui/card.tsx';
import { Segments } from '../../ui/choice.tsx';
import { CurlButton } from '../../ui/copy-button.tsx';
import { TimeMachine, withMoment } from '../../ui/late-time-machine.ts';
import { Page } from '../../ui/page.tsx';
import { type Column, WindowedTable } from '../../ui/rows/windowed-table.tsx';
import { SearchField } from '../../ui/search-field.tsx';
import { Bone, Empty, Failure } from '../../ui/states.tsx';
import { TimeMachineButton } from '../../ui/time-machine-button.tsx';
import { coordinates } from '../../words/coordinates.ts';
import { useFormats, useLanguage, useWords } from '../../words/language.tsx';
import { deviceStates } from '../devices/device-search.ts';
import type { MapSearch } from './map-search.ts';
import styles from './map.module.css';
import { type DevicePoint, mapBody, type Positions, usePositions } from './positions.ts';
import { mapPageWords } from './map-page-words.ts';

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
    body: mapBody(workspaceId, search),
  };
  const { at } = search;
  const showMoment = (moment: string | undefined) => change(withMoment(search, moment));
  return (
    <Page
      title={words.title}
      name={words.title}
      path={[words.title]}
      isWide
      lead={<Lead positions={positions} />}
      actions={
        <>
          <CurlButton request={request} />
          {at === undefined && <TimeMachineButton show={showMoment} />}
        </>
      }
    >
      {at !== undefined && <TimeMachine at={at} note={words.past} show={showMoment} />}
      <Filter search={search} change={change} />
      {positions.error !== null && (
        <Sheet>
          <Failure error={positions.error} retry={positions.retry} curl={request} />
        </Sheet>
      )}
      <ShownMoment value={at === undefined ? undefined : Date.parse(at)}>
        <Shown workspaceId={workspaceId} positions={positions} search={search} change={change} />
      </ShownMoment>
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
    <div className="row wrap gap-8">
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
  const { points, total, isLoading } = positions;
  const [wanted, setWanted] = useState<View | undefined>(() => viewOf(search.view));
  const [inView, setInView] = useState<readonly DevicePoint[]>([]);
  const settle = useSettledView(points, setInView, (view) => change({ ...search, view }));
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
        <NoPoints total={total} search={search} />
      </Sheet>
    );
  return (
    <div className={styles['both']}>
      <div className={styles['map']}>
        <WorldMap
          workspaceId={workspaceId}
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

interface NoPointsProps {
  readonly total: number;
  readonly search: MapSearch;
}

function NoPoints({ total, search: { q, state, at } }: NoPointsProps) {
  const words = useWords(mapPageWords);
  const isPast = at !== undefined;
  const isNarrowed = q !== undefined || state !== undefined;
  // The total of an earlier moment has the devices of every state.
  if (isNarrowed && (total === 0 || (isPast && state !== undefined)))
    return <Empty title={words.noMatch} note={words.noMatchNote} />;
  if (isPast) return <Empty title={words.emptyThen} />;
  return <Empty title={words.empty} note={words.emptyNote} />;
}

/** A device that is chosen in the list is shown with the town around it. */
const closeZoom = 11;

/** What is in view, and its address, once the map does not move for a moment. */
function useSettledView(
  points: readonly DevicePoint[],
  show: (inView: readonly DevicePoint[]) => void,
  keep: (view: string) => void,
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
        if (!isFirst) latest.current.keep(nameOf(view));
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

// Shown place: what the map shows, as its address has it.

function viewOf(name: string | undefined): View | undefined {
  const [latitude, longitude, zoom, ...more] = (name ?? '').split(',').map(Number);
  if (latitude === undefined || longitude === undefined || zoom === undefined) return undefined;
  const isPlace = Math.abs(latitude) <= 90 && Math.abs(longitude) <= 180;
  if (!isPlace || !(zoom >= 0 && zoom <= zoomMax) || more.length > 0) return undefined;
  return { center: worldOf({ latitude, longitude }), zoom };
}

function nameOf({ center, zoom }: View): string {
  const { latitude, longitude } = placeOf(center);
  return [rounded(latitude, 1e5), rounded(longitude, 1e5), rounded(zoom, 100)].join(',');
}

const rounded = (value: number, parts: number): number => Math.round(value * parts) / parts;

// Device card: the chosen device over the map, with its state, position and the way to its page.

interface DeviceCardProps {
  readonly workspaceId: string;
  readonly point: DevicePoint;
  readonly close: () => void;
}

function DeviceCard({ workspaceId, point, close }: DeviceCardProps) {
  const words = useWords(mapPageWords);
  const { language } = useLanguage();
  const states = useWords(mapWords).states;
  const { id, name, state, latitude, longitude, knownAt, lastHeard } = point;
  return (
    <section className={styles['card']} aria-label={name}>
      <header>
        <h2>
          <Link
            to="/w/$workspaceId/devices/$deviceId/overview"
            params={{ workspaceId, deviceId: id }}
          >
            {name}
          </Link>
        </h2>
        <Button look="ghost" isIcon aria-label={words.close} onClick={close}>
          <X aria-hidden="true" />
        </Button>
      </header>
      <p className={styles['state']}>
        <StateMark state={state} />
        {states[state]}
      </p>
      <dl>
        <dt>{words.lastHeard}</dt>
        <dd>
          <Ago at={lastHeard} />
        </dd>
        <dt>{words.position}</dt>
        <dd className="num">{coordinates(latitude, longitude, language)}</dd>
        <dt>{words.known}</dt>
        <dd>{knownAt === null ? words.withLast : <Ago at={knownAt} />}</dd>
      </dl>
    </section>
  );
}

// Devices in view: the same devices as a list, for the keyboard and for screen readers.

interface DevicesInViewProps {
  readonly points: readonly DevicePoint[];
  readonly open: (point: DevicePoint) => void;
}

function DevicesInView({ points, open }: DevicesInViewProps) {
  const words = useWords(mapPageWords);
  const states = useWords(mapWords).states;
  const formats = useFormats();
  const columns = useMemo<readonly Column<DevicePoint>[]>(
    () => [
      {
        key: 'name',
        header: words.list,
        width: 'minmax(0, 1fr)',
        cell: (point) => (
          <button
            type="button"
            tabIndex={-1}
            className={styles['device']}
            onClick={() => open(point)}
          >
            <StateMark state={point.state} />
            <span>{point.name}</span>
            <span className="sr">{states[point.state]}</span>
          </button>
        ),
      },
      {
        key: 'heard',
        header: words.lastHeard,
        width: '104px',
        cell: ({ lastHeard }) => (
          <span className="faint">
            <Ago at={lastHeard} />
          </span>
        ),
      },
    ],
    // oxlint-disable-next-line react-hooks/exhaustive-deps -- it only calls what is newest
    [words, states],
  );
  return (
    <section className={styles['list']} aria-label={words.list}>
      <p className={styles['count']} aria-live="polite">
        {words.listCount(formats.count(points.length))}
      </p>
      {points.length === 0 ? (
        <p className={styles['none']}>{words.noneInView}</p>
      ) : (
        <WindowedTable
          label={words.list}
          columns={columns}
          total={points.length}
          rowAt={(index) => points[index]}
          onView={ignore}
          open={open}
        />
      )}
    </section>
  );
}

/** All rows are there: nothing is asked for when others come into view. */
function ignore(): void {}
