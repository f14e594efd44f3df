// Device place: one device on a small map.
import { useMemo } from 'react';
import type { MapState } from './clusters.ts';
import { worldOf } from './view.ts';
import { WorldMap } from './world-map.tsx';

interface DevicePlaceProps {
  readonly workspaceId: string;
  readonly name: string;
  readonly latitude: number;
  readonly longitude: number;
  readonly state: MapState;
}

export function DevicePlace({ workspaceId, name, latitude, longitude, state }: DevicePlaceProps) {
  const points = useMemo(
    () => [{ id: name, name, at: worldOf({ latitude, longitude }), state }],
    [name, latitude, longitude, state],
  );
  return <WorldMap workspaceId={workspaceId} points={points} isSmall />;
}
