// Map painting: outline, grid or tiles, then clusters and devices, on a canvas in colors of the theme.
import { tokenValue } from '../ui/theme.ts';
import { latitudeWords, longitudeWords } from '../words/coordinates.ts';
import type { Language } from '../words/word-set.ts';
import type { Cluster, MapState } from './clusters.ts';
import { type Outline, pathScale } from './outline.ts';
import type { TilePictures } from './street-map.ts';
import {
  metersPerPixel,
  placeOf,
  screenOf,
  type Size,
  type View,
  worldAt,
  worldOf,
  worldPx,
  type WorldPoint,
} from './view.ts';

/** The outline is too rough for less than about 30 km across. */
const gridBelowMeters = 30_000;
const labelsMax = 60;
const gridPx = 110;

export interface Scene {
  readonly view: View;
  readonly size: Size;
  readonly outline: Outline | undefined;
  readonly tiles: TilePictures | undefined;
  readonly clusters: readonly Cluster[];
  /** Where devices were, in the order of time. */
  readonly tracks: readonly (readonly WorldPoint[])[];
  readonly chosenId: string | undefined;
  readonly hasLabels: boolean;
  readonly language: Language;
}

export interface Shown {
  readonly cluster: Cluster;
  readonly x: number;
  readonly y: number;
  readonly radius: number;
}

export const isGridShown = (view: View, size: Size): boolean =>
  metersPerPixel(view) * size.width < gridBelowMeters;

/** What is in view, with its place in pixels. */
export function shownClusters({ view, size, clusters }: Scene): readonly Shown[] {
  const spare = 30;
  return clusters.flatMap((cluster) => {
    const { x, y } = screenOf(view, size, cluster.at);
    const isOut = x < -spare || y < -spare || x > size.width + spare || y > size.height + spare;
    return isOut ? [] : [{ cluster, x, y, radius: radiusOf(cluster) }];
  });
}

/** A click counts up to this far from the edge of what is drawn. */
const reachPx = 8;

export function clusterAt(shown: readonly Shown[], at: WorldPoint): Shown | undefined {
  const distance = ({ x, y, radius }: Shown) => Math.hypot(x - at.x, y - at.y) - radius;
  const near = shown.filter((one) => distance(one) <= reachPx);
  return near.toSorted((a, b) => distance(a) - distance(b))[0];
}

export function paint(canvas: HTMLCanvasElement, scene: Scene, pixelRatio: number): void {
  const context = canvas.getContext('2d');
  if (context === null) return;
  const { view, size } = scene;
  const [width, height] = [size.width * pixelRatio, size.height * pixelRatio];
  if (canvas.width !== width || canvas.height !== height) {
    canvas.width = width;
    canvas.height = height;
  }
  const plain = () => context.setTransform(pixelRatio, 0, 0, pixelRatio, 0, 0);
  plain();
  const isGrid = isGridShown(view, size);
  context.fillStyle = tokenValue(isGrid ? '--surface' : '--sunken');
  context.fillRect(0, 0, size.width, size.height);
  if (isGrid) paintGrid(context, scene);
  else if (scene.outline !== undefined) paintOutline(context, scene.outline, scene, pixelRatio);
  plain();
  // Over the outline, which is there when tiles are not.
  scene.tiles?.paint(context, view, size);
  paintTracks(context, scene);
  paintClusters(context, scene);
}

const trackColors = ['--c1', '--c2', '--c3', '--c4', '--c5', '--c6'] as const;

function paintTracks(context: CanvasRenderingContext2D, { view, size, tracks }: Scene): void {
  context.lineWidth = 2.5;
  context.lineJoin = context.lineCap = 'round';
  for (const [at, track] of tracks.entries()) {
    context.strokeStyle = tokenValue(trackColors[at % trackColors.length] ?? '--c1');
    context.beginPath();
    for (const [place, point] of track.entries()) {
      const { x, y } = screenOf(view, size, point);
      if (place === 0) context.moveTo(x, y);
      else context.lineTo(x, y);
    }
    context.stroke();
  }
}

function paintOutline(
  context: CanvasRenderingContext2D,
  outline: Outline,
  { view, size }: Scene,
  pixelRatio: number,
): void {
  const scale = worldPx(view.zoom) / pathScale;
  const origin = screenOf(view, size, { x: 0, y: 0 });
  context.setTransform(
    scale * pixelRatio,
    0,
    0,
    scale * pixelRatio,
    origin.x * pixelRatio,
    origin.y * pixelRatio,
  );
  context.lineWidth = 1 / scale;
  context.lineJoin = 'round';
  context.fillStyle = tokenValue('--surface');
  context.strokeStyle = tokenValue('--line-strong');
  const from = worldAt(view, size, { x: 0, y: 0 });
  const to = worldAt(view, size, { x: size.width, y: size.height });
  const inView = outline.filter(
    ({ least, most }) =>
      most[0] >= from.x * pathScale &&
      least[0] <= to.x * pathScale &&
      most[1] >= from.y * pathScale &&
      least[1] <= to.y * pathScale,
  );
  for (const { path } of inView) context.fill(path);
  context.globalAlpha = 0.55;
  for (const { path } of inView) context.stroke(path);
  context.globalAlpha = 1;
}

/** Lines at whole multiples of the scale, so that they move with the map. */
/** Lines of whole steps of degrees, named at the edges, so that what is empty is still a place. */
function paintGrid(context: CanvasRenderingContext2D, { view, size, language }: Scene): void {
  const step = degreeStep(view);
  const from = placeOf(worldAt(view, size, { x: 0, y: size.height }));
  const to = placeOf(worldAt(view, size, { x: size.width, y: 0 }));
  const names: (() => void)[] = [];
  context.strokeStyle = tokenValue('--line');
  context.fillStyle = tokenValue('--ink-3');
  context.font = `500 11px ${tokenValue('--sans')}`;
  context.textBaseline = 'top';
  context.lineWidth = 1;
  context.beginPath();
  for (const longitude of stepsBetween(from.longitude, to.longitude, step)) {
    const { x } = screenOf(view, size, worldOf({ latitude: from.latitude, longitude }));
    context.moveTo(x, 0);
    context.lineTo(x, size.height);
    names.push(() => context.fillText(longitudeWords(longitude, language), x + 4, 6));
  }
  for (const latitude of stepsBetween(from.latitude, to.latitude, step)) {
    const { y } = screenOf(view, size, worldOf({ latitude, longitude: from.longitude }));
    context.moveTo(0, y);
    context.lineTo(size.width, y);
    names.push(() => context.fillText(latitudeWords(latitude, language), 6, y + 4));
  }
  context.stroke();
  for (const name of names) name();
}

/** Degrees between two lines of the grid: the least round step whose lines are not too close. */
function degreeStep({ zoom }: View): number {
  const ofPixels = (gridPx * 360) / worldPx(zoom);
  const power = 10 ** Math.floor(Math.log10(ofPixels));
  return [1, 2, 5, 10].map((one) => one * power).find((one) => one >= ofPixels) ?? ofPixels;
}

function stepsBetween(from: number, to: number, step: number): readonly number[] {
  const first = Math.ceil(from / step);
  const count = Math.max(0, Math.floor(to / step) - first + 1);
  return Array.from({ length: count }, (_, at) => (first + at) * step);
}

const colors: Readonly<Record<MapState, `--${string}`>> = {
  online: '--ok',
  silent: '--bad',
  never: '--ink-3',
  place: '--accent',
};

function radiusOf({ points }: Cluster): number {
  return points.length === 1 ? 6 : Math.min(26, 11 + Math.log2(points.length) * 1.6);
}

function paintClusters(context: CanvasRenderingContext2D, scene: Scene): void {
  const shown = shownClusters(scene);
  for (const one of shown) {
    if (one.cluster.points.length === 1) paintDevice(context, one, scene.chosenId);
    else paintCount(context, one);
  }
  if (scene.hasLabels) paintLabels(context, shown, scene.chosenId);
}

/** Online is a disc, silent a diamond, never heard a ring: the color is never the only key. */
function paintDevice(context: CanvasRenderingContext2D, shown: Shown, chosenId?: string): void {
  const { x, y, radius, cluster } = shown;
  const [point] = cluster.points;
  if (point === undefined) return;
  if (point.id === chosenId) {
    context.beginPath();
    context.arc(x, y, radius + 5, 0, 2 * Math.PI);
    context.strokeStyle = tokenValue('--focus');
    context.lineWidth = 2.5;
    context.stroke();
  }
  paintShape(context, point.state, { x, y, radius });
}

interface Circle {
  readonly x: number;
  readonly y: number;
  readonly radius: number;
}

function paintShape(
  context: CanvasRenderingContext2D,
  state: MapState,
  { x, y, radius }: Circle,
): void {
  context.beginPath();
  if (state === 'silent') {
    const side = radius * 1.25;
    context.moveTo(x, y - side);
    context.lineTo(x + side, y);
    context.lineTo(x, y + side);
    context.lineTo(x - side, y);
    context.closePath();
  } else context.arc(x, y, radius, 0, 2 * Math.PI);
  context.fillStyle = tokenValue(state === 'never' ? '--surface' : colors[state]);
  context.fill();
  context.lineWidth = state === 'never' ? 2.5 : 1.5;
  context.strokeStyle = tokenValue(state === 'never' ? colors.never : '--surface');
  context.stroke();
}

/** The number in a ring, whose parts are the states of its devices. */
function paintCount(context: CanvasRenderingContext2D, { x, y, radius, cluster }: Shown): void {
  const { counts, points } = cluster;
  context.beginPath();
  context.arc(x, y, radius, 0, 2 * Math.PI);
  context.fillStyle = tokenValue('--surface');
  context.fill();
  let from = -Math.PI / 2;
  context.lineWidth = 4;
  for (const state of ['online', 'silent', 'never', 'place'] as const) {
    const part = (counts[state] / points.length) * 2 * Math.PI;
    if (part === 0) continue;
    context.beginPath();
    context.arc(x, y, radius, from, from + part);
    context.strokeStyle = tokenValue(colors[state]);
    context.stroke();
    from += part;
  }
  context.fillStyle = tokenValue('--ink');
  context.font = `600 12px ${tokenValue('--sans')}`;
  context.textAlign = 'center';
  context.textBaseline = 'middle';
  context.fillText(shortCount(points.length), x, y + 0.5);
}

function shortCount(count: number): string {
  return count < 1_000 ? String(count) : `${Math.floor(count / 100) / 10}k`;
}

/** Names to the right of devices, without those that would cover another. */
function paintLabels(
  context: CanvasRenderingContext2D,
  shown: readonly Shown[],
  chosenId: string | undefined,
): void {
  const alone = shown.filter(({ cluster }) => cluster.points.length === 1);
  if (alone.length > labelsMax) return;
  context.font = `500 12px ${tokenValue('--sans')}`;
  context.textAlign = 'left';
  context.textBaseline = 'middle';
  context.lineWidth = 3;
  context.lineJoin = 'round';
  context.strokeStyle = tokenValue('--surface');
  context.fillStyle = tokenValue('--ink');
  const taken: { left: number; right: number; y: number }[] = shown.map(({ x, y, radius }) => {
    return { left: x - radius, right: x + radius, y };
  });
  for (const { x, y, radius, cluster } of alone) {
    const name = cluster.points[0]?.name ?? '';
    const left = x + radius + (cluster.points[0]?.id === chosenId ? 11 : 5);
    const right = left + context.measureText(name).width;
    const isFree = taken.every(
      (box) => box.right < left || box.left > right || Math.abs(box.y - y) > 14,
    );
    if (!isFree) continue;
    taken.push({ left, right, y });
    context.strokeText(name, left, y);
    context.fillText(name, left, y);
  }
}
