// Street map: what a workspace chose, where its tiles come from, and the choice itself.
import { queryOptions, useQuery } from '@tanstack/react-query';
import { useSyncExternalStore } from 'react';
import type { components } from '../../generated/interface-types.ts';
import { openStreetMap, tileOrigin } from '../../../src/model/map-tiles.ts';
import { aboutQuery } from '../api/about.ts';
import { answers } from '../api/answers.ts';
import { ask, platform } from '../api/platform.ts';
import { type TilePictures, tilePictures } from './tile-pictures.ts';

export type WorkspaceMap = components['schemas']['WorkspaceMap'];
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
