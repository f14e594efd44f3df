// World map: devices as dots and clusters on a street map, else on an outline or grid.
import { Maximize, Minus, Plus } from 'lucide-react';
import {
  type KeyboardEvent,
  type PointerEvent,
  type ReactNode,
  type RefObject,
  useEffect,
  useId,
  useMemo,
  useRef,
  useState,
} from 'react';
import { themeEvent } from '../ui/theme.ts';
import { Button, ButtonLink } from '../ui/button.tsx';
import { useSize } from '../ui/use-size.ts';
import { useFormats, useLanguage, useWords } from '../words/language.tsx';
import { type Cluster, clustersOf, type MapPoint, type MapState, mapStates } from './clusters.ts';
import { mapWords } from './map-words.ts';
import { type Detail, loadOutline, type Outline } from './outline.ts';
import { clusterAt, isGridShown, paint, type Scene, shownClusters } from './paint.ts';
import {
  chooseStreetMap,
  openStreetMapOrigin,
  type StreetsShown,
  type TilePictures,
  useStreets,
} from './street-map.ts';
import {
  fitted,
  metersPerPixel,
  panned,
  scaleLength,
  type Size,
  type View,
  worldOf,
  type WorldPoint,
  zoomedAt,
  zoomMax,
} from './view.ts';
import styles from './world-map.module.css';
import { toastFailure } from '../ui/toasts.tsx';
import { useAction } from '../ui/use-action.ts';

/** From here on the coarse outline looks angular. */
const fineZoom = 3.6;
/** Devices in one place stay together however close the map is. */
const onePlace = 1e-9;

interface WorldMapProps {
  /** Whose street map is shown; without it, that of the installation. */
  readonly workspaceId?: string | undefined;
  readonly points: readonly MapPoint[];
  /** Where devices were, in the order of time; the same list until one changes. */
  readonly tracks?: readonly (readonly WorldPoint[])[];
  readonly chosenId?: string | undefined;
  readonly choose?: (id: string | undefined) => void;
  /** What is in view, after each change of it. */
  readonly onView?: (view: View, size: Size) => void;
  /** Once set, it replaces what is shown. */
  readonly wanted?: View | undefined;
  /** A small map has no legend, and its wheel scrolls the page. */
  readonly isSmall?: boolean;
  /** Over the map, such as the card of the chosen device. */
  readonly children?: ReactNode;
}

export function WorldMap(props: WorldMapProps) {
  const { workspaceId, points, tracks = noTracks, chosenId, choose, children } = props;
  const { isSmall = false } = props;
  const words = useWords(mapWords);
  const formats = useFormats();
  const { language } = useLanguage();
  const helpId = useId();
  const box = useRef<HTMLDivElement>(null);
  const canvas = useRef<HTMLCanvasElement>(null);
  const size = useSize(box);
  const { view, show, fit } = useView(props, size);
  const outline = useOutline(view.zoom >= fineZoom ? 'fine' : 'coarse');
  const streets = useStreets(workspaceId);
  const { tiles } = streets;
  const step = Math.round(view.zoom);
  const clusters = useMemo(() => clustersOf(points, step), [points, step]);
  const shown = { view, size, clusters, tracks, chosenId, hasLabels: true, language };
  const scene: Scene = { ...shown, outline: outline.data, tiles };
  usePainting(canvas, scene, tiles);
  const open = (cluster: Cluster | undefined) => {
    const [first] = cluster?.points ?? [];
    if (cluster === undefined || first === undefined) return choose?.(undefined);
    const isTogether = cluster.points.every(({ at }) => distance(at, first.at) < onePlace);
    if (isTogether || view.zoom >= zoomMax - 1) return choose?.(first.id);
    return show(
      fitted(
        cluster.points.map(({ at }) => at),
        size,
        size.width / 4,
      ),
    );
  };
  const gestures = useGestures({
    box,
    size,
    view,
    show,
    fit,
    hasWheel: !isSmall,
    click: (at) => open(clusterAt(shownClusters(scene), at)?.cluster),
  });
  const middle = { x: size.width / 2, y: size.height / 2 };
  const label = words.map(words.devices(formats.count(points.length), points.length));
  return (
    <div className={styles['map']} data-small={isSmall}>
      <div
        ref={box}
        className={styles['box']}
        role="application"
        aria-label={label}
        aria-describedby={helpId}
        // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- its keys move the map
        tabIndex={0}
        {...gestures}
      >
        <canvas ref={canvas} aria-hidden="true" />
      </div>
      <p id={helpId} className="sr">
        {words.help}
      </p>
      <div className={styles['zoom']}>
        <Button
          isIcon
          aria-label={words.zoomIn}
          title={words.zoomIn}
          onClick={() => show(zoomedAt(view, size, middle, 1))}
        >
          <Plus aria-hidden="true" />
        </Button>
        <Button
          isIcon
          aria-label={words.zoomOut}
          title={words.zoomOut}
          onClick={() => show(zoomedAt(view, size, middle, -1))}
        >
          <Minus aria-hidden="true" />
        </Button>
        <Button isIcon aria-label={words.fit} title={words.fit} onClick={fit}>
          <Maximize aria-hidden="true" />
        </Button>
      </div>
      {!isSmall && <Legend />}
      <div className={styles['foot']}>
        <ScaleBar
          view={view}
          isGrid={isGridShown(view, size)}
          isSmall={isSmall}
          streets={streets}
        />
        {streets.isFailing && <span role="alert">{words.noTiles(streets.host)}</span>}
        {streets.error !== null && <span role="alert">{streets.error.message}</span>}
        {outline.isFailed && <span role="alert">{words.noOutline}</span>}
      </div>
      {workspaceId !== undefined && isOffered(streets) && !isSmall && isGridShown(view, size) && (
        <ShowStreets workspaceId={workspaceId} />
      )}
      {children}
    </div>
  );
}

/** The workspace has chosen nothing, the operator has set up nothing, and allows OpenStreetMap. */
function isOffered({ map }: StreetsShown): boolean {
  if (map?.source !== 'INSTALLATION' || map.kind !== 'NONE') return false;
  return map.origins.includes(openStreetMapOrigin);
}

function distance(a: { x: number; y: number }, b: { x: number; y: number }): number {
  return Math.hypot(a.x - b.x, a.y - b.y);
}

const noTracks: readonly (readonly WorldPoint[])[] = [];

/** Fitted to the devices and their tracks until someone moves the map; more devices that arrive are fitted too. */
function useView({ points, tracks = noTracks, wanted, onView }: WorldMapProps, size: Size) {
  const [moved, setMoved] = useState(wanted);
  const [taken, setTaken] = useState(wanted);
  if (wanted !== taken) {
    setTaken(wanted);
    setMoved(wanted);
  }
  const all = useMemo(
    () => fitted([...points.map(({ at }) => at), ...tracks.flat()], size),
    [points, tracks, size],
  );
  const view = moved ?? all;
  const latest = useRef(onView);
  useEffect(() => {
    latest.current = onView;
  });
  useEffect(() => latest.current?.(view, size), [view, size]);
  return { view, show: setMoved, fit: () => setMoved(undefined) };
}

function useOutline(detail: Detail): { data: Outline | undefined; isFailed: boolean } {
  const [found, setFound] = useState<Outline>();
  const [isFailed, setFailed] = useState(false);
  useEffect(() => {
    let isOver = false;
    const take = (outline: Outline) => {
      if (isOver) return;
      setFound(outline);
      setFailed(false);
    };
    loadOutline(detail).then(take, () => setFailed(!isOver));
    return () => {
      isOver = true;
    };
  }, [detail]);
  return { data: found, isFailed };
}

/** At most once a frame, and again when the theme changes or a tile arrives. */
function usePainting(
  canvas: React.RefObject<HTMLCanvasElement | null>,
  scene: Scene,
  tiles: TilePictures | undefined,
): void {
  const latest = useRef(scene);
  useEffect(() => {
    latest.current = scene;
    const frame = requestAnimationFrame(() => repaint(canvas.current, latest.current));
    return () => cancelAnimationFrame(frame);
  });
  useEffect(() => {
    const again = () => repaint(canvas.current, latest.current);
    addEventListener(themeEvent, again);
    return () => removeEventListener(themeEvent, again);
  }, [canvas]);
  useEffect(() => {
    let frame = 0;
    const stop = tiles?.watch(() => {
      cancelAnimationFrame(frame);
      frame = requestAnimationFrame(() => repaint(canvas.current, latest.current));
    });
    return () => {
      cancelAnimationFrame(frame);
      stop?.();
    };
  }, [canvas, tiles]);
}

function repaint(canvas: HTMLCanvasElement | null, scene: Scene): void {
  if (canvas !== null && scene.size.width > 0) paint(canvas, scene, devicePixelRatio);
}

// Gestures of a map: drag, wheel, pinch and double click, and the keys for the same.

const keyPx = 80;
/** A press that moves less is a click. */
const clickPx = 4;
const wheelPerStep = 320;

interface GestureParts {
  readonly box: RefObject<HTMLElement | null>;
  readonly size: Size;
  readonly view: View;
  readonly show: (view: View) => void;
  readonly fit: () => void;
  readonly click: (at: WorldPoint) => void;
  /** A wheel over a small map scrolls the page, unless Ctrl is pressed. */
  readonly hasWheel: boolean;
}

function useGestures(parts: GestureParts) {
  const latest = useRef(parts);
  useEffect(() => {
    latest.current = parts;
  });
  const pointers = useRef(new Map<number, WorldPoint>());
  const moved = useRef(0);
  const { box } = parts;
  useEffect(() => {
    const element = box.current;
    if (element === null) return undefined;
    const onWheel = (event: WheelEvent) => {
      const { hasWheel, view, size, show } = latest.current;
      if (!hasWheel && !event.ctrlKey) return;
      event.preventDefault();
      const { left, top } = element.getBoundingClientRect();
      const at = { x: event.clientX - left, y: event.clientY - top };
      show(zoomedAt(view, size, at, -event.deltaY / wheelPerStep));
    };
    // React listens passively, and a passive listener cannot keep the page from scrolling.
    element.addEventListener('wheel', onWheel, { passive: false });
    return () => element.removeEventListener('wheel', onWheel);
  }, [box]);
  const at = (event: PointerEvent<HTMLElement> | MouseEventOf): WorldPoint => {
    const { left, top } = event.currentTarget.getBoundingClientRect();
    return { x: event.clientX - left, y: event.clientY - top };
  };
  return {
    onPointerDown(event: PointerEvent<HTMLElement>) {
      if (event.button !== 0) return;
      event.currentTarget.setPointerCapture(event.pointerId);
      pointers.current.set(event.pointerId, at(event));
      moved.current = 0;
    },
    onPointerMove(event: PointerEvent<HTMLElement>) {
      const before = pointers.current.get(event.pointerId);
      if (before === undefined) return;
      const now = at(event);
      const other = [...pointers.current].find(([id]) => id !== event.pointerId)?.[1];
      pointers.current.set(event.pointerId, now);
      moved.current += Math.hypot(now.x - before.x, now.y - before.y);
      if (moved.current < clickPx) return;
      parts.show(
        other === undefined ? dragged(parts, before, now) : pinched(parts, { before, now, other }),
      );
    },
    onPointerUp(event: PointerEvent<HTMLElement>) {
      const isClick = pointers.current.size === 1 && moved.current < clickPx;
      if (pointers.current.delete(event.pointerId) && isClick) parts.click(at(event));
    },
    onPointerCancel(event: PointerEvent<HTMLElement>) {
      pointers.current.delete(event.pointerId);
    },
    onDoubleClick(event: MouseEventOf) {
      parts.show(zoomedAt(parts.view, parts.size, at(event), 1));
    },
    onKeyDown(event: KeyboardEvent) {
      const next = afterKey(event, parts);
      if (next === undefined) return;
      event.preventDefault();
      if (next === 'fit') parts.fit();
      else parts.show(next);
    },
  };
}

interface MouseEventOf {
  readonly currentTarget: HTMLElement;
  readonly clientX: number;
  readonly clientY: number;
}

function dragged({ view }: GestureParts, before: WorldPoint, now: WorldPoint): View {
  return panned(view, before.x - now.x, before.y - now.y);
}

interface Pinch {
  readonly before: WorldPoint;
  readonly now: WorldPoint;
  readonly other: WorldPoint;
}

function pinched({ view, size }: GestureParts, { before, now, other }: Pinch): View {
  const distance = (a: WorldPoint) => Math.max(1, Math.hypot(a.x - other.x, a.y - other.y));
  const middle = { x: (now.x + other.x) / 2, y: (now.y + other.y) / 2 };
  const steps = Math.log2(distance(now) / distance(before));
  const moved = panned(view, (before.x - now.x) / 2, (before.y - now.y) / 2);
  return zoomedAt(moved, size, middle, steps);
}

function afterKey(event: KeyboardEvent, { view, size }: GestureParts): View | 'fit' | undefined {
  if (event.ctrlKey || event.metaKey || event.altKey) return undefined;
  const middle = { x: size.width / 2, y: size.height / 2 };
  const keys: Readonly<Record<string, () => View | 'fit'>> = {
    ArrowLeft: () => panned(view, -keyPx, 0),
    ArrowRight: () => panned(view, keyPx, 0),
    ArrowUp: () => panned(view, 0, -keyPx),
    ArrowDown: () => panned(view, 0, keyPx),
    '+': () => zoomedAt(view, size, middle, 1),
    '=': () => zoomedAt(view, size, middle, 1),
    '-': () => zoomedAt(view, size, middle, -1),
    '0': () => 'fit',
  };
  return keys[event.key]?.();
}

// Map notes: what the shapes mean, how long a line is on the ground, and where the outline is from.

const scalePx = 110;

function Legend() {
  const words = useWords(mapWords);
  return (
    <ul className={styles['legend']} aria-label={words.legend}>
      {mapStates.map((state) => (
        <li key={state}>
          <StateMark state={state} />
          {words.states[state]}
        </li>
      ))}
    </ul>
  );
}

/** The shape of a state as the map draws it. */
export function StateMark({ state }: { readonly state: (typeof mapStates)[number] }) {
  return (
    <svg className={styles[state]} viewBox="0 0 16 16" aria-hidden="true">
      {state === 'silent' ? <path d="M8 1 15 8 8 15 1 8Z" /> : <circle cx="8" cy="8" r="6" />}
    </svg>
  );
}

interface ScaleBarProps {
  readonly view: View;
  readonly isGrid: boolean;
  readonly isSmall: boolean;
  readonly streets: StreetsShown;
}

function ScaleBar({ view, isGrid, isSmall, streets }: ScaleBarProps) {
  const { tiles, attribution, map } = streets;
  const words = useWords(mapWords);
  const formats = useFormats();
  const noStreets = map?.kind === 'VECTOR' ? words.vector : (map?.note ?? words.grid);
  const meters = metersPerPixel(view);
  const length = scaleLength(meters, scalePx);
  const said =
    length >= 1_000
      ? words.kilometers(formats.count(length / 1_000))
      : words.meters(formats.count(length));
  return (
    <>
      <span className={styles['scale']} style={{ width: length / meters }}>
        {said}
      </span>
      {attribution !== undefined && tiles !== undefined && <Attribution text={attribution} />}
      {tiles === undefined && !isSmall && <span>{isGrid ? noStreets : words.natural}</span>}
    </>
  );
}

/** OpenStreetMap asks for a link to its license. */
function Attribution({ text }: { readonly text: string }) {
  if (!text.includes('OpenStreetMap')) return <span>{text}</span>;
  return (
    <a
      className={styles['attribution']}
      href="https://www.openstreetmap.org/copyright"
      target="_blank"
      rel="noopener noreferrer"
    >
      {text}
    </a>
  );
}

// Show streets: asks where there is no street map whether tiles of another host may be loaded, and says what that host learns.

/** Kept in the browser: who asked not to be asked. */
const refusedKey = (workspaceId: string) => `no streets ${workspaceId}`;

function ShowStreets({ workspaceId }: { readonly workspaceId: string }) {
  const words = useWords(mapWords);
  const [isRefused, setRefused] = useState(
    () => localStorage.getItem(refusedKey(workspaceId)) !== null,
  );
  const choice = useAction({
    mutationFn: () => chooseStreetMap(workspaceId, 'OPEN_STREET_MAP'),
    onError: toastFailure,
  });
  if (isRefused) return null;
  const refuse = () => {
    localStorage.setItem(refusedKey(workspaceId), 'yes');
    setRefused(true);
  };
  return (
    <section className={styles['streets']} aria-label={words.showStreets}>
      <h2>{words.showStreets}</h2>
      <p>{words.streetsNote}</p>
      <div className="row wrap gap-8">
        <Button
          look="primary"
          needs="workspace: update"
          disabled={choice.isPending}
          onClick={() => choice.mutate()}
        >
          {words.useOpenStreetMap}
        </Button>
        <ButtonLink to="/w/$workspaceId/settings/map" params={{ workspaceId }}>
          {words.useOwnTiles}
        </ButtonLink>
        <Button look="ghost" onClick={refuse}>
          {words.notNow}
        </Button>
      </div>
    </section>
  );
}

// Device place: one device on a small map.

interface DevicePlaceProps {
  readonly workspaceId: string;
  readonly name: string;
  readonly latitude: number;
  readonly longitude: number;
  readonly state: MapState;
}

export function DevicePlace({ workspaceId, name, latitude, longitude, state }: DevicePlaceProps) {
  const points = useMemo(
    () => [{ id: name, name, at: worldOf({ latitude, longitude }), state }],
    [name, latitude, longitude, state],
  );
  return <WorldMap workspaceId={workspaceId} points={points} isSmall />;
}
