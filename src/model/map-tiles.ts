// Map tiles: where browsers load pictures of a street map, whom the map names for them, and what a workspace chooses.

export interface MapTiles {
  /** Address of a tile, with `{z}`, `{x}` and `{y}` for its zoom, column and row. */
  readonly url: string;
  /** Plain words, which maps show. */
  readonly attribution: string;
}

/** What the maps of a workspace show (contract 39). */
export const mapSources = ['NONE', 'INSTALLATION', 'OPEN_STREET_MAP', 'URL', 'FILE'] as const;
export type MapSource = (typeof mapSources)[number];

export interface MapSetting {
  readonly source: MapSource;
  /** Address of a tile, of source URL; null for others. */
  readonly url: string | null;
  readonly attribution: string | null;
}

export const defaultMapSetting: MapSetting = {
  source: 'INSTALLATION',
  url: null,
  attribution: null,
};

export const openStreetMap: MapTiles = {
  url: 'https://tile.openstreetmap.org/{z}/{x}/{y}.png',
  attribution: '© OpenStreetMap contributors',
};

const places = ['{z}', '{x}', '{y}'] as const;

/** Whether each place is in the path or query of an http or https address, and nothing else is open. */
export function isTileTemplate(url: string): boolean {
  if (!/^https?:\/\//i.test(url) || !places.every((place) => url.includes(place))) return false;
  const tile = tileAddress(url, { z: 0, x: 0, y: 0 });
  if (!URL.canParse(tile) || /[{}]/.test(tile)) return false;
  const { origin, username, password } = new URL(tile);
  // A page cannot load a picture with a user, and a host with a place would be many hosts.
  return username + password === '' && origin === tileOrigin(url, 1);
}

export interface TileName {
  readonly z: number;
  readonly x: number;
  readonly y: number;
}

export function tileAddress(url: string, { z, x, y }: TileName): string {
  return url.replaceAll('{z}', `${z}`).replaceAll('{x}', `${x}`).replaceAll('{y}', `${y}`);
}

/** The only host that pages load tiles from, as content policies name it. */
export function tileOrigin(url: string, zoom = 0): string {
  return new URL(tileAddress(url, { z: zoom, x: zoom, y: zoom })).origin;
}
