// Street map: what a workspace chose, where its tiles come from, and the choice itself.
import { queryOptions, useQuery } from '@tanstack/react-query';
import { useSyncExternalStore } from 'react';
import type { components } from '../../generated/interface-types.ts';
import {
  openStreetMap,
  tileAddress,
  type TileName,
  tileOrigin,
} from '../../../src/model/map-tiles.ts';
import { aboutQuery, ask, platform } from '../api/platform.ts';
import { answers } from '../api/answers.ts';
import { screenOf, type Size, tilePx, type View, worldAt, worldPx } from './view.ts';

type WorkspaceMap = components['schemas']['WorkspaceMap'];
export type MapSource = WorkspaceMap['source'];

export const openStreetMapOrigin = tileOrigin(openStreetMap.url);

export const streetMapOf = (workspaceId: string) =>
  queryOptions({
    queryKey: ['street map', workspaceId],
    staleTime: 60_000,
    queryFn: ({ signal }) => {
      const params = { path: { id: workspaceId } };
      return ask(platform.GET('/v3/workspaces/{id}/map', { signal, params }));
    },
  });

/** Maps that are open follow. */
export async function chooseStreetMap(workspaceId: string, source: MapSource): Promise<void> {
  const body = { id: workspaceId, settings: { map: { source } } };
  const params = { path: { id: workspaceId } };
  await ask(platform.PUT('/v3/workspaces/{id}', { params, body }));
  await refreshStreetMap(workspaceId);
}

export async function refreshStreetMap(workspaceId: string): Promise<void> {
  await Promise.all([
    answers.invalidateQueries({ queryKey: streetMapOf(workspaceId).queryKey }),
    answers.invalidateQueries({ queryKey: ['workspace', workspaceId] }),
  ]);
}

export interface StreetsShown {
  /** Undefined without a street map, and until the platform has said so. */
  readonly tiles: TilePictures | undefined;
  readonly attribution: string | undefined;
  readonly isFailing: boolean;
  /** Where the tiles come from; empty for those of the platform. */
  readonly host: string;
  /** What the workspace chose; undefined for a shared link and until it is known. */
  readonly map: WorkspaceMap | undefined;
  /** Why it cannot be read. */
  readonly error: Error | null;
}

/** Without a workspace, such as for a shared link: the street map of the installation. */
export function useStreets(workspaceId: string | undefined): StreetsShown {
  const about = useQuery({ ...aboutQuery, enabled: workspaceId === undefined });
  const map = useQuery({ ...streetMapOf(workspaceId ?? ''), enabled: workspaceId !== undefined });
  const installation = workspaceId === undefined ? about.data?.mapTiles : undefined;
  const url = (map.data?.kind === 'RASTER' ? map.data.tiles : undefined) ?? installation?.url;
  const tiles = url === undefined ? undefined : tilePictures(url, map.data?.maxZoom ?? undefined);
  const isFailing = useSyncExternalStore(
    tiles?.watch ?? unchanged,
    () => tiles?.isFailing() === true,
  );
  return {
    tiles,
    attribution: map.data?.attribution ?? installation?.attribution,
    isFailing,
    host: url === undefined || url.startsWith('/') ? '' : new URL(tileOrigin(url)).host,
    map: map.data,
    error: map.error,
  };
}

const unchanged = () => () => undefined;

// Tile pictures: tiles of a street map as they arrive, a bounded number of them, painted on a canvas.

// Tiles in view: which tiles of a street map a view needs, and where they are on the screen.

/** What tile servers commonly have; closer views enlarge these. */
const zoomMax = 19;
/** A tile that is not there yet is replaced by a part of one that covers it. */
const ancestorsMax = 5;

interface PlacedTile {
  readonly tile: TileName;
  /** Upper left corner and side on the screen, in pixels. */
  readonly x: number;
  readonly y: number;
  readonly side: number;
}

/** From the middle outwards, which is the order in which they are asked for. */
export function tilesInView(view: View, size: Size, closest = zoomMax): readonly PlacedTile[] {
  const z = Math.max(0, Math.min(closest, Math.round(view.zoom)));
  const count = 2 ** z;
  const side = worldPx(view.zoom) / count;
  const from = worldAt(view, size, { x: 0, y: 0 });
  const to = worldAt(view, size, { x: size.width, y: size.height });
  const inside = (value: number) => Math.max(0, Math.min(count - 1, Math.floor(value * count)));
  const placed: PlacedTile[] = [];
  for (let y = inside(from.y); y <= inside(to.y); y++)
    for (let x = inside(from.x); x <= inside(to.x); x++) {
      const corner = screenOf(view, size, { x: x / count, y: y / count });
      placed.push({ tile: { z, x, y }, ...corner, side });
    }
  const distance = ({ x, y }: PlacedTile) =>
    Math.hypot(x + side / 2 - size.width / 2, y + side / 2 - size.height / 2);
  return placed.toSorted((a, b) => distance(a) - distance(b));
}

interface TilePart {
  readonly tile: TileName;
  /** Upper left corner and side of the part, in pixels of the tile. */
  readonly x: number;
  readonly y: number;
  readonly side: number;
}

/** The tile, then the parts of the tiles above it that show the same ground. */
export function partsFor({ z, x, y }: TileName): readonly TilePart[] {
  const levels = Math.min(ancestorsMax, z) + 1;
  return Array.from({ length: levels }, (_, up) => {
    const across = 2 ** up;
    const side = tilePx / across;
    const tile = { z: z - up, x: Math.floor(x / across), y: Math.floor(y / across) };
    return { tile, x: (x % across) * side, y: (y % across) * side, side };
  });
}

/** Some views with the tiles around them; a picture of 256 pixels is 256 kB in memory. */
const picturesMax = 300;
/** A tile that did not arrive is asked for again when it is painted after this time. */
const retryMs = 30_000;

interface Picture {
  readonly askedMs: number;
  /** Undefined until it is there, and where the map has no tile. */
  image: HTMLImageElement | ImageBitmap | undefined;
  width: number;
  isFailed: boolean;
}

export interface TilePictures {
  /** Paints what is there, and asks for what is not. */
  readonly paint: (context: CanvasRenderingContext2D, view: View, size: Size) => void;
  /** Called after each picture that arrives or fails. Returns how to stop. */
  readonly watch: (changed: () => void) => () => void;
  /** Whether the newest answer was a failure. */
  readonly isFailing: () => boolean;
}

const known = new Map<string, TilePictures>();

/** One for each address, so that all maps of the console share their pictures. */
function tilePictures(url: string, closest = zoomMax): TilePictures {
  let pictures = known.get(url);
  if (pictures === undefined) known.set(url, (pictures = new Pictures(url, closest)));
  return pictures;
}

class Pictures implements TilePictures {
  readonly #url: string;
  readonly #closest: number;
  readonly #pictures = new Map<string, Picture>();
  readonly #watchers = new Set<() => void>();
  #isFailing = false;

  constructor(url: string, closest: number) {
    this.#url = url;
    this.#closest = closest;
  }

  readonly paint = (context: CanvasRenderingContext2D, view: View, size: Size): void => {
    for (const { tile, x, y, side } of tilesInView(view, size, this.#closest))
      for (const [up, part] of partsFor(tile).entries()) {
        const { image, width } = this.#pictureOf(part.tile, up === 0) ?? {};
        if (image === undefined || width === undefined) continue;
        const scale = width / tilePx;
        const [left, top, edge] = [part.x * scale, part.y * scale, part.side * scale];
        // A little larger, so that no line shows between two tiles.
        context.drawImage(image, left, top, edge, edge, x, y, side + 0.5, side + 0.5);
        break;
      }
    // Bright streets would outshine the devices.
    if (document.documentElement.dataset['theme'] !== 'dark') return;
    context.fillStyle = 'rgb(0 0 0 / 0.45)';
    context.fillRect(0, 0, size.width, size.height);
  };

  readonly watch = (changed: () => void) => {
    this.#watchers.add(changed);
    return () => this.#watchers.delete(changed);
  };

  readonly isFailing = () => this.#isFailing;

  #pictureOf(tile: TileName, isWanted: boolean): Picture | undefined {
    const address = tileAddress(this.#url, tile);
    const picture = this.#pictures.get(address);
    const isOver = picture?.isFailed === true && Date.now() - picture.askedMs > retryMs;
    if (isWanted && (picture === undefined || isOver)) void this.#ask(address);
    if (picture?.image === undefined) return undefined;
    // The last of the map is the one that was used last.
    this.#pictures.delete(address);
    this.#pictures.set(address, picture);
    return picture;
  }

  async #ask(address: string): Promise<void> {
    const picture: Picture = { askedMs: Date.now(), image: undefined, width: 0, isFailed: false };
    this.#pictures.set(address, picture);
    const [oldest] = this.#pictures.keys();
    if (this.#pictures.size > picturesMax && oldest !== undefined) this.#pictures.delete(oldest);
    try {
      const load = address.startsWith('/') ? ownPicture : otherPicture;
      Object.assign(picture, await load(address));
    } catch {
      picture.isFailed = true;
    }
    this.#isFailing = picture.isFailed;
    for (const watcher of this.#watchers) watcher();
  }
}

type Loaded = Pick<Picture, 'image' | 'width'>;

async function otherPicture(address: string): Promise<Loaded> {
  const image = new Image();
  // Tile servers refuse pages that do not say where they are; the path stays here.
  image.referrerPolicy = 'origin';
  image.decoding = 'async';
  image.src = address;
  await image.decode();
  return { image, width: image.naturalWidth };
}

/** Of the platform, which says where its map has no tile; a picture element would call that broken. */
async function ownPicture(address: string): Promise<Loaded> {
  const answer = await fetch(address);
  if (answer.status === 204) return { image: undefined, width: 0 };
  if (!answer.ok) throw new Error(`status ${answer.status}`);
  const image = await createImageBitmap(await answer.blob());
  return { image, width: image.width };
}
