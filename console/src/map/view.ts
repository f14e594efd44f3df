// Map view: which part of the world is shown, in Mercator, and what its pixels mean.

export interface Place {
  /** Degrees, from -180 to 180. */
  readonly longitude: number;
  /** Degrees, from -90 to 90; the projection ends at about 85. */
  readonly latitude: number;
}

/** A point of the whole map, whose sides are 1; y goes down. */
export interface WorldPoint {
  readonly x: number;
  readonly y: number;
}

export interface View {
  readonly center: WorldPoint;
  /** The world is 256 x 2^zoom pixels wide. */
  readonly zoom: number;
}

export interface Size {
  readonly width: number;
  readonly height: number;
}

export const tilePx = 256;
export const zoomMax = 19;
const latitudeMax = 85.05112878;
const earthMeters = 40_075_016.686;
/** A single device is shown with the country around it. */
const closestFit = 9;

export const worldPx = (zoom: number): number => tilePx * 2 ** zoom;

export function worldOf({ longitude, latitude }: Place): WorldPoint {
  const bounded = Math.min(latitudeMax, Math.max(-latitudeMax, latitude));
  const sine = Math.sin((bounded * Math.PI) / 180);
  return {
    x: longitude / 360 + 0.5,
    y: 0.5 - Math.log((1 + sine) / (1 - sine)) / (4 * Math.PI),
  };
}

export function placeOf({ x, y }: WorldPoint): Place {
  const latitude = (360 / Math.PI) * Math.atan(Math.exp((0.5 - y) * 2 * Math.PI)) - 90;
  return { longitude: (x - 0.5) * 360, latitude };
}

/** Pixels from the upper left corner of the map. */
export function screenOf({ center, zoom }: View, size: Size, { x, y }: WorldPoint): WorldPoint {
  const scale = worldPx(zoom);
  return {
    x: (x - center.x) * scale + size.width / 2,
    y: (y - center.y) * scale + size.height / 2,
  };
}

export function worldAt({ center, zoom }: View, size: Size, { x, y }: WorldPoint): WorldPoint {
  const scale = worldPx(zoom);
  return {
    x: center.x + (x - size.width / 2) / scale,
    y: center.y + (y - size.height / 2) / scale,
  };
}

/** Moves what is shown by pixels. */
export function panned({ center, zoom }: View, across: number, down: number): View {
  const scale = worldPx(zoom);
  return bounded({ center: { x: center.x + across / scale, y: center.y + down / scale }, zoom });
}

/** Zooms by steps of two; what is under the pixel stays there. */
export function zoomedAt(view: View, size: Size, at: WorldPoint, steps: number): View {
  const zoom = Math.min(zoomMax, Math.max(zoomLeast(size), view.zoom + steps));
  const fixed = worldAt(view, size, at);
  const scale = worldPx(zoom);
  const center = {
    x: fixed.x - (at.x - size.width / 2) / scale,
    y: fixed.y - (at.y - size.height / 2) / scale,
  };
  return bounded({ center, zoom });
}

/** Shows all points with a margin in pixels; without any, the world. */
export function fitted(points: readonly WorldPoint[], size: Size, marginPx = 56): View {
  const [first] = points;
  if (first === undefined) return { center: { x: 0.5, y: 0.42 }, zoom: zoomLeast(size) };
  const { least, most } = boundsOf(points, first);
  const width = Math.max(1, size.width - 2 * marginPx) / Math.max(1e-9, most.x - least.x);
  const height = Math.max(1, size.height - 2 * marginPx) / Math.max(1e-9, most.y - least.y);
  const zoom = Math.log2(Math.min(width, height) / tilePx);
  const isOnePlace = least.x === most.x && least.y === most.y;
  const center = { x: (least.x + most.x) / 2, y: (least.y + most.y) / 2 };
  const closest = isOnePlace ? closestFit : zoomMax - 2;
  return { center, zoom: Math.min(closest, Math.max(zoomLeast(size), zoom)) };
}

function boundsOf(points: readonly WorldPoint[], first: WorldPoint) {
  let [least, most] = [first, first];
  for (const { x, y } of points) {
    least = { x: Math.min(least.x, x), y: Math.min(least.y, y) };
    most = { x: Math.max(most.x, x), y: Math.max(most.y, y) };
  }
  return { least, most };
}

/** The world fills the map. */
function zoomLeast({ width, height }: Size): number {
  return Math.max(0, Math.log2(Math.max(1, Math.min(width, height * 1.6)) / tilePx));
}

function bounded({ center, zoom }: View): View {
  const inside = (value: number) => Math.min(1, Math.max(0, value));
  return { center: { x: inside(center.x), y: inside(center.y) }, zoom };
}

/** At the middle of the map; Mercator stretches what is far from the equator. */
export function metersPerPixel({ center, zoom }: View): number {
  const { latitude } = placeOf(center);
  return (earthMeters * Math.cos((latitude * Math.PI) / 180)) / worldPx(zoom);
}

/** The longest of 1, 2, 5, 10 ... meters that is not longer than the limit in pixels. */
export function scaleLength(metersOfPixel: number, mostPx: number): number {
  const most = metersOfPixel * mostPx;
  const power = 10 ** Math.floor(Math.log10(most));
  return power * ([5, 2].find((factor) => factor * power <= most) ?? 1);
}
