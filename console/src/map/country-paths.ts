// Country paths: each country of an atlas projected once, on a map of the given size.
import { geoMercator, geoPath } from 'd3-geo';
import { feature } from 'topojson-client';
import type { GeometryCollection, Topology } from 'topojson-specification';

export interface Country {
  readonly path: Path2D;
  /** On the map of that size. */
  readonly least: readonly [x: number, y: number];
  readonly most: readonly [x: number, y: number];
}

export type Outline = readonly Country[];
/** `pathScale`: the sides of the map that the paths are on. */
export function countriesOf(atlas: unknown, pathScale: number): Outline {
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
