// World outline: countries from Natural Earth as paths on the unit map, each detail in its own chunk.
import { geoMercator, geoPath } from 'd3-geo';
import { feature } from 'topojson-client';
import type { GeometryCollection, Topology } from 'topojson-specification';

export interface Country {
  readonly path: Path2D;
  /** On a map whose sides are `pathScale`. */
  readonly least: readonly [x: number, y: number];
  readonly most: readonly [x: number, y: number];
}

export type Outline = readonly Country[];
export type Detail = 'coarse' | 'fine';

/** Sides of the map that the paths are on; a size at which clipping has no rounding errors. */
export const pathScale = 1_000;

const loaders: Readonly<Record<Detail, () => Promise<{ readonly default: unknown }>>> = {
  coarse: () => import('world-atlas/countries-110m.json'),
  fine: () => import('world-atlas/countries-50m.json'),
};
const loaded = new Map<Detail, Promise<Outline>>();

/** Loaded once; another try after a failure. */
export function loadOutline(detail: Detail): Promise<Outline> {
  let outline = loaded.get(detail);
  if (outline === undefined) {
    outline = loaders[detail]().then((module) => countriesOf(module.default));
    outline.catch(() => loaded.delete(detail));
    loaded.set(detail, outline);
  }
  return outline;
}

function countriesOf(atlas: unknown): Outline {
  const topology = atlas as Topology<{ readonly countries: GeometryCollection }>;
  const projection = geoMercator()
    .scale(pathScale / (2 * Math.PI))
    .translate([pathScale / 2, pathScale / 2])
    .precision(0);
  const { features } = feature(topology, topology.objects.countries);
  return features.map((country) => {
    const path = new Path2D();
    // It has all that is called; only `beginPath` belongs to a canvas.
    geoPath(projection, path as unknown as CanvasRenderingContext2D)(country);
    const [least, most] = geoPath(projection).bounds(country);
    return { path, least, most };
  });
}
