// World outline: countries from Natural Earth as paths on the unit map, each detail in its own chunk.

import type { Outline } from './country-paths.ts';

export type { Outline } from './country-paths.ts';
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
    outline = projected(detail);
    outline.catch(() => loaded.delete(detail));
    loaded.set(detail, outline);
  }
  return outline;
}

async function projected(detail: Detail): Promise<Outline> {
  const [atlas, { countriesOf }] = await Promise.all([
    loaders[detail](),
    import('./country-paths.ts'),
  ]);
  return countriesOf(atlas.default, pathScale);
}
