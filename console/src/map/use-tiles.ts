// Hook on the street map of the installation: its tiles, whom it names, and whether they arrive.
import { useQuery } from '@tanstack/react-query';
import { useSyncExternalStore } from 'react';
import { aboutQuery } from '../api/about.ts';
import { type TilePictures, tilePictures } from './tile-pictures.ts';

export interface MapTilesShown {
  /** Undefined without a tile server, and until the platform has said so. */
  readonly tiles: TilePictures | undefined;
  readonly attribution: string | undefined;
  readonly isFailing: boolean;
}

export function useTiles(): MapTilesShown {
  const mapTiles = useQuery(aboutQuery).data?.mapTiles ?? undefined;
  const tiles = mapTiles === undefined ? undefined : tilePictures(mapTiles.url);
  const isFailing = useSyncExternalStore(
    tiles?.watch ?? unchanged,
    () => tiles?.isFailing() === true,
  );
  return { tiles, attribution: mapTiles?.attribution, isFailing };
}

const unchanged = () => () => undefined;
