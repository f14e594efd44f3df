// World map: devices as dots and clusters on a street map, else on an outline or grid.
import { Maximize, Minus, Plus } from 'lucide-react';
import { type ReactNode, useEffect, useId, useMemo, useRef, useState } from 'react';
import { themeEvent } from '../design/theme.ts';
import { Button } from '../parts/button.tsx';
import { useFormats, useLanguage, useWords } from '../words/language.tsx';
import { type Cluster, clustersOf, type MapPoint } from './clusters.ts';
import { Legend, ScaleBar } from './map-notes.tsx';
import { mapWords } from './map-words.ts';
import { type Detail, loadOutline, type Outline } from './outline.ts';
import { clusterAt, isGridShown, paint, type Scene, shownClusters } from './paint.ts';
import type { TilePictures } from './tile-pictures.ts';
import { useGestures } from './use-gestures.ts';
import { useTiles } from './use-tiles.ts';
import { fitted, type Size, type View, zoomedAt, zoomMax } from './view.ts';
import styles from './world-map.module.css';

/** From here on the coarse outline looks angular. */
const fineZoom = 3.6;
/** Devices in one place stay together however close the map is. */
const onePlace = 1e-9;

interface WorldMapProps {
  readonly points: readonly MapPoint[];
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
  const { points, chosenId, choose, isSmall = false, children } = props;
  const words = useWords(mapWords);
  const formats = useFormats();
  const { language } = useLanguage();
  const helpId = useId();
  const box = useRef<HTMLDivElement>(null);
  const canvas = useRef<HTMLCanvasElement>(null);
  const size = useSize(box);
  const { view, show, fit } = useView(props, size);
  const outline = useOutline(view.zoom >= fineZoom ? 'fine' : 'coarse');
  const { tiles, attribution, isFailing } = useTiles();
  const step = Math.round(view.zoom);
  const clusters = useMemo(() => clustersOf(points, step), [points, step]);
  const shown = { view, size, clusters, chosenId, hasLabels: true, language };
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
          attribution={attribution}
        />
        {isFailing && <span role="alert">{words.noTiles}</span>}
        {outline.isFailed && <span role="alert">{words.noOutline}</span>}
      </div>
      {children}
    </div>
  );
}

function distance(a: { x: number; y: number }, b: { x: number; y: number }): number {
  return Math.hypot(a.x - b.x, a.y - b.y);
}

function useSize(box: React.RefObject<HTMLElement | null>): Size {
  const [size, setSize] = useState<Size>({ width: 0, height: 0 });
  useEffect(() => {
    const element = box.current;
    if (element === null) return undefined;
    const sizes = new ResizeObserver(() =>
      setSize({ width: element.clientWidth, height: element.clientHeight }),
    );
    sizes.observe(element);
    return () => sizes.disconnect();
  }, [box]);
  return size;
}

/** Fitted to the devices until someone moves the map; more devices that arrive are fitted too. */
function useView({ points, wanted, onView }: WorldMapProps, size: Size) {
  const [moved, setMoved] = useState<View>();
  const [taken, setTaken] = useState(wanted);
  if (wanted !== taken) {
    setTaken(wanted);
    setMoved(wanted);
  }
  const all = useMemo(
    () =>
      fitted(
        points.map(({ at }) => at),
        size,
      ),
    [points, size],
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
