// Copied tile: a tile in another place of its dashboard, or in another dashboard together with its variables.
import {
  type Configuration,
  freeId,
  type Tile,
  type Variable,
} from '../../../../../src/dashboards/configuration.ts';
import { freePlace } from '../grid/layout.ts';

/** The tile again, in the first free place of its size. */
export function duplicated(tiles: readonly Tile[], tile: Tile, title: string | undefined): Tile {
  const { title: _, ...rest } = structuredClone(tile);
  const place = freePlace(tiles, [tile.width, tile.height]);
  return { ...rest, ...(title !== undefined && { title }), id: freeId(tiles), ...place };
}

/** Those that the tile names in its values, its texts and its repetition. */
export function variablesOfTile(tile: Tile, declared: readonly Variable[]): readonly Variable[] {
  const { title, text, label, link } = tile;
  const written = [title, text, label, JSON.stringify(link ?? null)].join('\n');
  const named = new Set([
    tile.repeat,
    tile.variable,
    ...(tile.series ?? []).map((one) => one.variable),
    ...(tile.marks ?? []).map((mark) => mark.variable),
  ]);
  return declared.filter(({ name }) => named.has(name) || written.includes(`{{${name}}}`));
}

/** The name of a variable that the target has with another meaning, or the target with the tile. */
export function withCopy(
  target: Configuration,
  tile: Tile,
  declared: readonly Variable[],
): { readonly other: string } | Configuration {
  const known = new Map((target.variables ?? []).map((variable) => [variable.name, variable]));
  const needed = variablesOfTile(tile, declared);
  const other = needed.find(({ name, kind }) => (known.get(name)?.kind ?? kind) !== kind);
  if (other !== undefined) return { other: other.name };
  const added = needed.filter(({ name }) => !known.has(name));
  const variables = [...(target.variables ?? []), ...added];
  const copy = duplicated(target.tiles, tile, tile.title ?? undefined);
  return {
    ...target,
    version: 2,
    ...(variables.length > 0 && { variables }),
    tiles: [...target.tiles, copy],
  };
}
