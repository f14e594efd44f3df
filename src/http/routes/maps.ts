// Routes of street maps: what the maps of a workspace show, and tiles of the map file (contract 39).
import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import { maps, type WorkspaceMap } from '../../contract/maps.ts';
import { Workspaces } from '../../inventory/workspaces/workspaces.ts';
import {
  isTileTemplate,
  type MapSetting,
  type MapTiles,
  openStreetMap,
  type TileName,
  tileOrigin,
} from '../../model/map-tiles.ts';
import { problem } from '../../model/problem.ts';
import type { FoundMap, MapFiles } from '../../storage/maps/map-files.ts';
import { Answer, resourceRoute, route, type Route } from '../edge/route.ts';
import { namesTag } from '../edge/send-json.ts';
import type { RecordRoutes } from './record-routes.ts';

/** The closest zoom of tile servers, which do not say theirs. */
const serverZoomMax = 19;

const tilesPath = '/v3/map/tiles/{z}/{x}/{y}';
/** A map file changes rarely, and a tile is asked for again after a day. */
const cacheControl = 'private, max-age=86400';

type Shown = Pick<WorkspaceMap, 'kind' | 'tiles' | 'attribution' | 'maxZoom' | 'note'>;

const nothing: Shown = { kind: 'NONE', tiles: null, attribution: null, maxZoom: null, note: null };

/** Settings of maps against what the operator set up. */
export class StreetMaps {
  readonly #installation: MapTiles | undefined;
  readonly #origins: readonly string[];
  readonly files: MapFiles;

  /** `installation`: MAP_TILES_URL; `origins`: MAP_ORIGINS. */
  constructor(installation: MapTiles | undefined, origins: readonly string[], files: MapFiles) {
    this.#installation = installation;
    this.#origins = origins;
    this.files = files;
  }

  /** Throws 400 for tiles of a host that the operator does not allow, and for a file that is not there. */
  async check(
    setting:
      | { readonly source: string; readonly url?: string | null | undefined }
      | null
      | undefined,
  ): Promise<void> {
    if (setting?.source === 'FILE' && (await this.files.find()) === undefined)
      throw refused('source: FILE requires a *.pmtiles file in maps of the data folder');
    const url = setting?.source === 'OPEN_STREET_MAP' ? openStreetMap.url : setting?.url;
    // What is no address of tiles at all is refused with the setting itself.
    if (typeof url !== 'string' || !isTileTemplate(url)) return;
    const refusal = this.#refusalOf(url);
    const member = setting?.source === 'URL' ? 'url' : 'source';
    if (refusal !== undefined) throw refused(`${member}: ${refusal}`);
  }

  async shown(setting: MapSetting): Promise<WorkspaceMap> {
    const { source } = setting;
    return { ...(await this.#shown(setting)), source, origins: [...this.#origins] };
  }

  async #shown({ source, url, attribution }: MapSetting): Promise<Shown> {
    switch (source) {
      case 'NONE':
        return nothing;
      case 'INSTALLATION':
        if (this.#installation !== undefined) return ofServer(this.#installation);
        return this.#ofFile(null);
      case 'FILE':
        return this.#ofFile('There is no *.pmtiles file in maps of the data folder');
      case 'OPEN_STREET_MAP':
        return this.#ofHost(openStreetMap);
      case 'URL':
        return this.#ofHost({ url: url ?? '', attribution: attribution ?? '' });
    }
  }

  /** The operator may have taken a host back since it was chosen. */
  #ofHost(tiles: MapTiles): Shown {
    const note = this.#refusalOf(tiles.url);
    return note === undefined ? ofServer(tiles) : { ...nothing, note };
  }

  async #ofFile(absent: string | null): Promise<Shown> {
    const found = await this.files.find();
    return found === undefined ? { ...nothing, note: absent } : ofFile(found);
  }

  #refusalOf(url: string): string | undefined {
    const origin = tileOrigin(url);
    if (this.#origins.includes(origin)) return undefined;
    const allowed = this.#origins.join(', ') || 'no origin';
    return `${origin} is not allowed; MAP_ORIGINS of this installation allows ${allowed}`;
  }
}

function ofServer({ url, attribution }: MapTiles): Shown {
  return { kind: 'RASTER', tiles: url, attribution, maxZoom: serverZoomMax, note: null };
}

function ofFile({ contentType, zoomMax, attribution }: FoundMap): Shown {
  const kind = contentType.startsWith('image/') ? 'RASTER' : 'VECTOR';
  return { kind, tiles: tilesPath, attribution, maxZoom: zoomMax, note: null };
}

function refused(reason: string) {
  return problem('invalidRequest', { reason: `body settings.map.${reason}` });
}

export function mapRoutes(common: RecordRoutes, streetMaps: StreetMaps): Route[] {
  const { records } = common;
  return [
    resourceRoute(maps.read, common.byId('workspace'), async ({ params: { id } }) => {
      const { settings } = await new Workspaces(records).read(id);
      return streetMaps.shown(settings.map);
    }),
    route(maps.tile, async ({ params, headers, signal }, { organizationId }) => {
      checkTile(params);
      const found = await streetMaps.files.tile(organizationId, params, signal);
      if (found === undefined) return new Answer(204);
      const { bytes, contentType } = found;
      if (bytes === undefined) return new Answer(204, undefined, { 'cache-control': cacheControl });
      const tag = tagOf(bytes);
      const caching = { 'cache-control': cacheControl, etag: tag };
      if (namesTag(headers['if-none-match'], tag)) return new Answer(304, undefined, caching);
      return new Answer(200, Readable.from([bytes]), {
        ...caching,
        'content-type': contentType,
        'content-length': String(bytes.length),
      });
    }),
  ];
}

/** Of the content, so that nodes with equal files have equal tags. */
function tagOf(bytes: Buffer): string {
  return `"${createHash('sha256').update(bytes).digest('base64url').slice(0, 22)}"`;
}

function checkTile({ z, x, y }: TileName): void {
  const side = 2 ** z;
  for (const [name, value] of [
    ['x', x],
    ['y', y],
  ] as const)
    if (value >= side)
      throw problem('invalidRequest', { reason: `path ${name}: ${value} is not below ${side}` });
}
