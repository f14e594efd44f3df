// Tile grid: the tiles of a dashboard in their places, to be read or to be arranged.
import { Link } from '@tanstack/react-router';
import { ChartLine, GripVertical, Settings2, Trash2 } from 'lucide-react';
import {
  type CSSProperties,
  type KeyboardEvent,
  type PointerEvent,
  type ReactNode,
  type RefObject,
  useId,
  useRef,
  useState,
} from 'react';
import type { CurlRequest } from '../../../api/curl.ts';
import { Button } from '../../../ui/button.tsx';
import { CurlButton } from '../../../ui/copy-button.tsx';
import { toast } from '../../../ui/toasts.tsx';
import { useWords } from '../../../words/language.tsx';
import { isoInterval } from '../../../../../src/dashboards/buckets.ts';
import type { DeviceSearch } from '../../device/device-search.ts';
import { accumulatorNames, type ExploreSearch } from '../../device/explore/explore-search.ts';
import type { Tile } from '../../../../../src/dashboards/configuration.ts';
import type { BoundTile } from '../../../../../src/dashboards/variables.ts';
import { useReader } from '../dashboard-requests.ts';
import {
  deviceSeriesOf,
  isComputed,
  latestBodies,
  seriesBody,
  seriesPlan,
} from '../../../../../src/dashboards/plan.ts';
import { bucketShown, shownSeries } from '../data/tile-values.ts';
import type { DashboardData } from '../data/use-dashboard-data.ts';
import { TileContent } from '../tiles/kind-table.tsx';
import { AddAlarmButton } from '../../rules/chart-alarm/add-alarm-button.tsx';
import { useAlarmSources, useTileFrame, useTitleOf } from '../tiles/tile-data.ts';
import { TileMenu } from '../tiles/tile-menu.tsx';
import { gridWords, tileWords } from '../tiles/tile-words.ts';
import styles from '../tiles/tiles.module.css';
import { NotesButton } from '../notes/notes-button.tsx';
import {
  arranged,
  type Box,
  boxIn,
  fitted,
  inReadingOrder,
  type Step,
  stepped,
  without,
} from './layout.ts';

// Tile box: the frame of a tile with its title, its actions, and its handles while it is edited.

interface TileEdit {
  /** As it is stored, with the names of variables. */
  readonly tile: Tile;
  readonly grid: GridEdit;
  /** Element that says how the keyboard moves a tile. */
  readonly helpId: string;
  readonly settings: (tile: Tile) => void;
  readonly remove: (tile: Tile) => void;
}

interface TileBoxProps {
  readonly tile: BoundTile;
  readonly edit: TileEdit | undefined;
  readonly children: ReactNode;
}

const unframed: ReadonlySet<Tile['kind']> = new Set(['value', 'state', 'text']);

function TileBox({ tile, edit, children }: TileBoxProps) {
  const { data, tiles } = useTileFrame();
  const heading = useId();
  const box = useRef<HTMLElement>(null);
  const titleOf = useTitleOf();
  const title = titleOf(tile);
  // Landmarks have names of their own.
  const isAlone = tiles.every((other) => other.id === tile.id || titleOf(other) !== title);
  const [first] = shownSeries(tile, data);
  const hasUnit = first !== undefined && (tile.kind === 'line' || tile.kind === 'bar');
  const hasHead = tile.kind !== 'text' || edit !== undefined || (tile.title ?? '') !== '';
  return (
    <section
      ref={box}
      className={styles['tile']}
      style={placeOf(tile)}
      data-framed={!unframed.has(tile.kind)}
      data-editing={edit !== undefined}
      data-grabbed={edit?.grid.grabbedId === tile.id}
      {...(isAlone ? {} : { role: 'group' })}
      aria-labelledby={heading}
    >
      <header className={hasHead ? styles['head'] : 'sr'}>
        <h2 id={heading} title={title}>
          {edit === undefined ? <TileTitle tile={tile} title={title} /> : title}
        </h2>
        {hasUnit && <span className="rigid mute">{first.unit}</span>}
        <span className={styles['actions']}>
          {edit === undefined ? (
            <TileActions tile={tile} title={title} box={box} />
          ) : (
            <EditActions
              title={title}
              edit={edit}
              menu={<TileMenu {...{ tile, title, box }} isEditing />}
            />
          )}
        </span>
      </header>
      <div className={styles['body']}>{children}</div>
      {edit !== undefined && (
        <span className={styles['corner']} aria-hidden="true" {...edit.grid.corner(edit.tile)} />
      )}
    </section>
  );
}

/** Leads to the dashboard that the tile names; a shared link reads no other. */
function TileTitle({
  tile: { link },
  title,
}: {
  readonly tile: BoundTile;
  readonly title: string;
}) {
  const { isShared } = useReader();
  const { workspaceId } = useTileFrame();
  if (!link || isShared) return title;
  const { dashboardId, variables } = link;
  const values = Object.entries(variables ?? {}).map(([name, value]) => [name, [value].flat()]);
  return (
    <Link
      to="/w/$workspaceId/dashboards/$dashboardId"
      params={{ workspaceId, dashboardId }}
      search={values.length === 0 ? {} : { var: Object.fromEntries(values) }}
    >
      {title}
    </Link>
  );
}

function placeOf({ x, y, width, height }: Box): CSSProperties {
  return {
    '--column': x + 1,
    '--columns': width,
    '--row': y + 1,
    '--rows': height,
  } as CSSProperties;
}

interface TileActionsProps {
  readonly tile: BoundTile;
  readonly title: string;
  readonly box: RefObject<HTMLElement | null>;
}

function TileActions({ tile, title, box }: TileActionsProps) {
  const words = useWords(tileWords);
  const { isShared } = useReader();
  const { workspaceId, data } = useTileFrame();
  if (isShared) return null;
  const explore = exploreOf(tile, data);
  const request = requestOf(tile, data);
  return (
    <>
      {explore !== undefined && (
        <Link
          to="/w/$workspaceId/devices/$deviceId/explore"
          params={{ workspaceId, deviceId: explore.deviceId }}
          search={explore.search}
          className={styles['open']}
          aria-label={words.explore(title)}
          title={words.explore(title)}
        >
          <ChartLine aria-hidden="true" />
        </Link>
      )}
      {(tile.kind === 'line' || tile.kind === 'bar') && (
        <>
          <TileAlarm tile={tile} title={title} />
          <NotesButton tile={tile} title={title} />
        </>
      )}
      {request !== undefined && <CurlButton request={request} />}
      <TileMenu tile={tile} title={title} box={box} />
    </>
  );
}

function TileAlarm({ tile, title }: { readonly tile: BoundTile; readonly title: string }) {
  const { workspaceId } = useTileFrame();
  const sources = useAlarmSources(tile);
  return <AddAlarmButton workspaceId={workspaceId} sources={sources} title={title} />;
}

interface EditActionsProps {
  readonly title: string;
  readonly edit: TileEdit;
  readonly menu: ReactNode;
}

function EditActions({ title, edit, menu }: EditActionsProps) {
  const words = useWords(gridWords);
  const { tile, grid, helpId, settings, remove } = edit;
  return (
    <>
      <span className={styles['handle']}>
        <Button
          look="ghost"
          isIcon
          aria-label={words.move(title)}
          title={words.move(title)}
          aria-describedby={helpId}
          aria-pressed={grid.grabbedId === tile.id}
          {...grid.handle(tile)}
        >
          <GripVertical aria-hidden="true" />
        </Button>
      </span>
      <Button
        look="ghost"
        isIcon
        aria-label={words.settings(title)}
        title={words.settings(title)}
        onClick={() => settings(tile)}
      >
        <Settings2 aria-hidden="true" />
      </Button>
      <Button
        look="ghost"
        isIcon
        aria-label={words.remove(title)}
        title={words.remove(title)}
        onClick={() => remove(tile)}
      >
        <Trash2 aria-hidden="true" />
      </Button>
      {menu}
    </>
  );
}

// Tile links: the exploration that a tile leads to, and the request for its values.

interface ExploreLink {
  readonly deviceId: string;
  readonly search: DeviceSearch & ExploreSearch;
}

/** The values of one topic, because an exploration has one. Undefined for a tile without values. */
function exploreOf(tile: BoundTile, data: DashboardData): ExploreLink | undefined {
  // Of calculations, what they read.
  const all = tile.series
    .flatMap((one) => deviceSeriesOf(one, data.devices))
    .filter(({ combined }) => combined === undefined);
  const [first] = all;
  if (first === undefined || tile.kind === 'map') return undefined;
  const { bucket, isOwn } = bucketShown(tile, data);
  const series = all.filter(({ topic }) => topic === first.topic);
  const formula = series.find(({ isFormula }) => isFormula)?.dataKey;
  const named = series.filter(({ isFormula }) => !isFormula);
  const keys = [...new Set(named.map(({ dataKey }) => dataKey))].slice(0, 12);
  const others = new Set(series.map(({ deviceId }) => deviceId));
  others.delete(first.deviceId);
  const acc = accumulatorNames.find((one) => one === first.accumulator);
  return {
    deviceId: first.deviceId,
    search: {
      topic: first.topic,
      key: first.dataKey,
      keys,
      ...(formula === undefined ? {} : { formula }),
      ...isoInterval(data.interval),
      ...(others.size === 0 ? {} : { with: [...others].slice(0, 12) }),
      ...(acc === undefined || acc === 'AVG' ? {} : { acc }),
      ...(isOwn && bucket !== undefined ? { bucket: bucket.iso } : {}),
    },
  };
}

function requestOf(tile: BoundTile, data: DashboardData): CurlRequest | undefined {
  const [request] = seriesPlan([tile], data.devices, data.interval);
  if (request !== undefined && (tile.kind !== 'value' || isComputed(tile))) {
    const body = seriesBody(request, data.interval, data.zone);
    return { method: 'POST', path: '/v3/devices/query/batch/time-series', body };
  }
  const [body] = latestBodies([tile]);
  return body === undefined
    ? undefined
    : { method: 'POST', path: '/v3/devices/query/latest', body };
}

export function TileGrid() {
  const { tiles } = useTileFrame();
  const values = tiles.filter(({ kind }) => kind === 'value');
  return (
    <div className={styles['grid']}>
      {inReadingOrder(tiles).map((tile) => (
        <TileBox key={tile.id} tile={tile} edit={undefined}>
          <TileContent tile={tile} colorAt={values.indexOf(tile)} />
        </TileBox>
      ))}
    </div>
  );
}

interface TileEditorProps {
  readonly tiles: readonly Tile[];
  readonly change: (tiles: Tile[]) => void;
  readonly settings: (tile: Tile) => void;
}

export function TileEditor({ tiles, change, settings }: TileEditorProps) {
  const words = useWords(gridWords);
  const titleOf = useTitleOf();
  const helpId = useId();
  const grid = useGridEdit(tiles, change);
  const remove = (tile: Tile) => {
    change(without(tiles, tile.id));
    toast(words.removed(titleOf(tile)), () => change([...tiles]));
  };
  const bound = new Map(useTileFrame().tiles.map((tile) => [tile.id, tile]));
  const values = tiles.filter(({ kind }) => kind === 'value').map(({ id }) => id);
  return (
    <>
      <p id={helpId} className="sr">
        {words.help}
      </p>
      <p role="status" className="sr">
        <News grid={grid} />
      </p>
      <div className={styles['grid']} data-grid data-editing="true">
        {/* In the order of the list: an element that moves in the page loses the focus. */}
        {grid.tiles.map((tile) => {
          const { x, y, width, height } = tile;
          const shown = bound.get(tile.id);
          if (shown === undefined) return null;
          const edit = { tile, grid, helpId, settings, remove };
          return (
            <TileBox key={tile.id} tile={{ ...shown, x, y, width, height }} edit={edit}>
              <TileContent tile={shown} colorAt={values.indexOf(tile.id)} />
            </TileBox>
          );
        })}
      </div>
    </>
  );
}

function News({ grid: { news } }: { readonly grid: GridEdit }) {
  const words = useWords(gridWords);
  const titleOf = useTitleOf();
  if (news === undefined) return null;
  const { x, y, width, height } = news.tile;
  const place = words.place(x + 1, y + 1, width, height);
  return words.news[news.what](titleOf(news.tile), place);
}

// Grid edit: tiles are moved and resized by the pointer and by the keyboard, and each step is said.

interface Grab {
  readonly id: string;
  readonly wanted: Box;
  readonly by: 'keys' | 'pointer';
}

type GridNews = 'grabbed' | 'moved' | 'dropped' | 'canceled';

interface GridEdit {
  /** With the tile that is grabbed where it would go. */
  readonly tiles: readonly Tile[];
  readonly grabbedId: string | undefined;
  readonly news: { readonly what: GridNews; readonly tile: Tile } | undefined;
  readonly handle: (tile: Tile) => HandleListeners;
  /** Listeners of the corner that changes the size. */
  readonly corner: (tile: Tile) => PointerListeners;
}

interface PointerListeners {
  readonly onPointerDown: (event: PointerEvent<HTMLElement>) => void;
  readonly onPointerMove: (event: PointerEvent<HTMLElement>) => void;
  readonly onPointerUp: () => void;
  readonly onPointerCancel: () => void;
}

interface HandleListeners extends PointerListeners {
  readonly onKeyDown: (event: KeyboardEvent) => void;
  readonly onBlur: () => void;
}

const arrows: Readonly<Record<string, readonly [across: number, down: number]>> = {
  ArrowLeft: [-1, 0],
  ArrowRight: [1, 0],
  ArrowUp: [0, -1],
  ArrowDown: [0, 1],
};

function useGridEdit(tiles: readonly Tile[], change: (tiles: Tile[]) => void): GridEdit {
  const [grab, setGrab] = useState<Grab>();
  const [news, setNews] = useState<GridEdit['news']>();
  const shown = grab === undefined ? tiles : arranged(tiles, grab.id, grab.wanted);
  const say = (what: GridNews, list: readonly Tile[], id: string) => {
    const tile = list.find((one) => one.id === id);
    if (tile !== undefined) setNews({ what, tile });
  };
  const take = (next: Grab) => {
    setGrab(next);
    say(grab === undefined ? 'grabbed' : 'moved', arranged(tiles, next.id, next.wanted), next.id);
  };
  const drop = () => {
    if (grab === undefined) return;
    setGrab(undefined);
    change(shown as Tile[]);
    say('dropped', shown, grab.id);
  };
  const cancel = () => {
    if (grab === undefined) return;
    setGrab(undefined);
    say('canceled', tiles, grab.id);
  };
  const pointer = usePointer({ tiles, grab, take, drop, cancel });
  const onKeyDown = (tile: Tile) => (event: KeyboardEvent) => {
    const isGrabbed = grab?.id === tile.id;
    const arrow = arrows[event.key];
    if (event.key === ' ' || (event.key === 'Enter' && isGrabbed)) {
      if (isGrabbed) drop();
      else take({ id: tile.id, wanted: boxOf(tile), by: 'keys' });
    } else if (event.key === 'Escape' && isGrabbed) cancel();
    else if (arrow !== undefined && isGrabbed) {
      const step = stepOf(arrow, event.shiftKey);
      take({ ...grab, wanted: stepped(tiles, tile.id, grab.wanted, step) });
    } else return;
    event.preventDefault();
    event.stopPropagation();
  };
  return {
    tiles: shown,
    grabbedId: grab?.id,
    news,
    handle: (tile) => ({
      ...pointer(tile, false),
      onKeyDown: onKeyDown(tile),
      onBlur: () => {
        if (grab?.by === 'keys' && grab.id === tile.id) drop();
      },
    }),
    corner: (tile) => pointer(tile, true),
  };
}

function stepOf([across, down]: readonly [number, number], isResize: boolean): Step {
  return isResize ? { width: across, height: down } : { x: across, y: down };
}

interface PointerParts {
  readonly tiles: readonly Tile[];
  readonly grab: Grab | undefined;
  readonly take: (grab: Grab) => void;
  readonly drop: () => void;
  readonly cancel: () => void;
}

interface Start {
  readonly clientX: number;
  readonly clientY: number;
  readonly box: Box;
  readonly cell: readonly [width: number, height: number];
}

function usePointer({ tiles, grab, take, drop, cancel }: PointerParts) {
  const start = useRef<Start>(undefined);
  return (tile: Tile, isResize: boolean): PointerListeners => ({
    onPointerDown(event) {
      const grid = event.currentTarget.closest('[data-grid]');
      if (event.button !== 0 || grid === null) return;
      event.currentTarget.setPointerCapture(event.pointerId);
      const { clientX, clientY } = event;
      start.current = { clientX, clientY, box: boxOf(tile), cell: cellOf(grid) };
    },
    onPointerMove(event) {
      const from = start.current;
      if (from === undefined) return;
      const across = Math.round((event.clientX - from.clientX) / from.cell[0]);
      const down = Math.round((event.clientY - from.clientY) / from.cell[1]);
      const { box } = from;
      const wanted = isResize
        ? {
            ...box,
            width: Math.min(12 - box.x, Math.max(1, box.width + across)),
            height: box.height + down,
          }
        : { ...box, x: box.x + across, y: box.y + down };
      const fit = fitted(wanted);
      const now = grab === undefined ? boxIn(tiles, tile.id) : grab.wanted;
      if (JSON.stringify(boxOf({ ...fit })) === JSON.stringify(now && boxOf(now))) return;
      take({ id: tile.id, wanted: fit, by: 'pointer' });
    },
    onPointerUp() {
      start.current = undefined;
      if (grab?.by === 'pointer') drop();
    },
    onPointerCancel() {
      start.current = undefined;
      if (grab?.by === 'pointer') cancel();
    },
  });
}

function boxOf({ x, y, width, height }: Box): Box {
  return { x, y, width, height };
}

/** A column and a row with the space after each, in pixels. */
function cellOf(grid: Element): readonly [number, number] {
  const style = getComputedStyle(grid);
  const gap = Number.parseFloat(style.columnGap);
  const width = (grid.clientWidth + gap) / 12;
  return [width, Number.parseFloat(style.gridAutoRows) + gap];
}
