// Geofence: whether a position lies in one of the polygons of a FeatureCollection, outside its holes (contract 13).
import { isJsonObject, type Json, type JsonObject } from './json.ts';

type Point = readonly [longitude: number, latitude: number];
type Ring = readonly Point[];

interface Polygon {
  readonly outer: Ring;
  readonly holes: readonly Ring[];
  readonly west: number;
  readonly east: number;
  readonly south: number;
  readonly north: number;
}

export interface GeoFence {
  readonly polygons: readonly Polygon[];
}

const geoFenceLimits = { polygonsMax: 100, pointsMax: 10_000 } as const;

/**
 * Reads the polygons; the reason says what is wrong and where. A ring that crosses the antimeridian
 * is one whose neighbouring points are more than 180 degrees of longitude apart: it goes the short
 * way around, so [179, 0] to [-179, 0] spans two degrees.
 */
export function parseGeoFence(
  geoJson: JsonObject,
): { readonly fence: GeoFence } | { readonly reason: string } {
  if (geoJson['type'] !== 'FeatureCollection') return { reason: 'type must be FeatureCollection' };
  const { features } = geoJson;
  if (!Array.isArray(features) || features.length === 0)
    return { reason: 'features must list at least one polygon' };
  if (features.length > geoFenceLimits.polygonsMax) {
    return { reason: `features: more than ${geoFenceLimits.polygonsMax} polygons` };
  }
  const polygons: Polygon[] = [];
  let points = 0;
  for (const [i, feature] of (features as readonly Json[]).entries()) {
    const geometry = isJsonObject(feature) ? feature['geometry'] : undefined;
    const place = `features[${i}].geometry`;
    if (!isJsonObject(geometry) || geometry['type'] !== 'Polygon')
      return { reason: `${place} must be a Polygon` };
    const read = readRings(geometry['coordinates'], `${place}.coordinates`);
    if ('reason' in read) return read;
    points += read.rings.reduce((sum, ring) => sum + ring.length, 0);
    if (points > geoFenceLimits.pointsMax)
      return { reason: `${place}: more than ${geoFenceLimits.pointsMax} points` };
    polygons.push(bounded(read.rings));
  }
  return { fence: { polygons } };
}

function readRings(
  value: Json | undefined,
  place: string,
): { readonly rings: readonly (readonly Point[])[] } | { readonly reason: string } {
  if (!Array.isArray(value) || value.length === 0)
    return { reason: `${place} must list at least one ring` };
  const rings: Point[][] = [];
  for (const [i, ring] of (value as readonly Json[]).entries()) {
    if (!Array.isArray(ring) || ring.length < 4)
      return { reason: `${place}[${i}] must have at least four points` };
    const points: Point[] = [];
    for (const [j, point] of (ring as readonly Json[]).entries()) {
      const [longitude, latitude] = Array.isArray(point) ? (point as readonly Json[]) : [];
      if (!isDegrees(longitude, 180) || !isDegrees(latitude, 90)) {
        return {
          reason: `${place}[${i}][${j}] must be [longitude, latitude], within ±180 and ±90 degrees`,
        };
      }
      points.push([
        shortWay(longitude, points.at(-1)?.[0] ?? rings[0]?.[0]?.[0] ?? longitude),
        latitude,
      ]);
    }
    const [first] = ring as readonly (readonly Json[])[];
    const last = (ring as readonly (readonly Json[])[]).at(-1);
    if (first?.[0] !== last?.[0] || first?.[1] !== last?.[1]) {
      return { reason: `${place}[${i}] must be closed: the last point must equal the first` };
    }
    rings.push(points);
  }
  return { rings };
}

function isDegrees(value: Json | undefined, max: number): value is number {
  return typeof value === 'number' && Math.abs(value) <= max;
}

/** The longitude, whole turns added, that is nearest to another one. */
function shortWay(longitude: number, other: number): number {
  const turns = Math.round((other - longitude) / 360);
  return longitude + turns * 360;
}

function bounded([outer = [], ...holes]: readonly Ring[]): Polygon {
  const longitudes = outer.map(([longitude]) => longitude);
  const latitudes = outer.map(([, latitude]) => latitude);
  return {
    outer,
    holes,
    west: Math.min(...longitudes),
    east: Math.max(...longitudes),
    south: Math.min(...latitudes),
    north: Math.max(...latitudes),
  };
}

/** The edge counts as inside. */
export function isInside(fence: GeoFence, longitude: number, latitude: number): boolean {
  return fence.polygons.some((polygon) => inPolygon(polygon, longitude, latitude));
}

function inPolygon(polygon: Polygon, longitude: number, latitude: number): boolean {
  if (latitude < polygon.south || latitude > polygon.north) return false;
  // A ring around the antimeridian reaches beyond 180 degrees, so the position is looked for one
  // turn further too.
  for (const turned of [longitude, longitude + 360, longitude - 360]) {
    if (turned < polygon.west || turned > polygon.east) continue;
    const where = placeIn(polygon.outer, turned, latitude);
    if (where === 'edge') return true;
    if (
      where === 'inside' &&
      !polygon.holes.some((hole) => placeIn(hole, turned, latitude) === 'inside')
    )
      return true;
  }
  return false;
}

/** Counts the edges that a ray to the east crosses. */
function placeIn(ring: Ring, x: number, y: number): 'inside' | 'outside' | 'edge' {
  let inside = false;
  let [xj, yj] = ring.at(-1) ?? [0, 0];
  for (const [xi, yi] of ring) {
    const between =
      x >= Math.min(xi, xj) &&
      x <= Math.max(xi, xj) &&
      y >= Math.min(yi, yj) &&
      y <= Math.max(yi, yj);
    if (between && (xj - xi) * (y - yi) === (yj - yi) * (x - xi)) return 'edge';
    if (yi > y !== yj > y && x < ((xj - xi) * (y - yi)) / (yj - yi) + xi) inside = !inside;
    [xj, yj] = [xi, yi];
  }
  return inside ? 'inside' : 'outside';
}
