// Schemas and endpoints of street maps: what the maps of a workspace show, and tiles of the map file (contract 39).
import Type, { type Static } from 'typebox';
import { mapSources } from '../model/map-tiles.ts';
import { endpoint } from './endpoint.ts';
import { idParams, list, namedObject, oneOf, orNull } from './schema-parts.ts';

const workspaceMap = namedObject('WorkspaceMap', {
  kind: oneOf(['NONE', 'RASTER', 'VECTOR']),
  tiles: orNull(
    Type.String({
      description: 'Tile URL template with `{z}`, `{x}`, and `{y}`. Null without a street map.',
    }),
  ),
  attribution: orNull(Type.String({ description: 'Plain text that maps show.' })),
  maxZoom: orNull(Type.Integer({ description: 'Closest zoom that has tiles.' })),
  source: oneOf(mapSources),
  note: orNull(
    Type.String({ description: 'Why there is no street map, if the setting asks for one.' }),
  ),
  origins: list(Type.String()),
});
export type WorkspaceMap = Static<typeof workspaceMap>;

const whole = (description: string) => Type.Integer({ minimum: 0, description });
const tileParams = Type.Object({
  z: Type.Integer({ minimum: 0, maximum: 26, description: 'Zoom.' }),
  x: whole('Column, below 2^z.'),
  y: whole('Row, below 2^z, from the north.'),
});
const picture = Type.Unsafe<string>({ type: 'string', format: 'binary' });

const tag = 'Maps';

export const maps = {
  read: endpoint({
    method: 'GET',
    path: '/v3/workspaces/:id/map',
    summary: 'Get the street map of a workspace',
    description:
      "Returns where maps of the workspace load tiles from, according to the workspace's `settings.map`.",
    tag,
    access: { scope: 'asset', verb: 'read', resource: 'path' },
    params: idParams,
    response: workspaceMap,
  }),
  tile: endpoint({
    method: 'GET',
    path: '/v3/map/tiles/:z/:x/:y',
    summary: 'Get a tile of the map file',
    description:
      'Returns a tile of the `*.pmtiles` file in `maps` of the data folder, or 204 where it has none.',
    tag,
    access: { anyCredential: 'Any valid credential.' },
    params: tileParams,
    otherAnswers: { 204: Type.Void(), 304: Type.Void() },
    answerTypes: {
      'image/png': picture,
      'image/jpeg': picture,
      'image/webp': picture,
      'image/avif': picture,
      'application/vnd.mapbox-vector-tile': picture,
    },
  }),
} as const;
