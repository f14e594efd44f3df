// New shapes: those of a device and topic that this process has not stored yet.
import { createBoundedMap } from '../../../structures/bounded-map.ts';
import type { NewShape } from './block-encoding.ts';
import type { OpenRow } from './open-row.ts';

/** Devices whose stored shapes are remembered; those of others are stored again. */
const devicesMax = 200_000;
const shapesOfDeviceMax = 64;

export interface NewShapes {
  /** One of each, with its first row. */
  of(rows: readonly OpenRow[]): readonly NewShape[];
  stored(shapes: readonly NewShape[]): void;
  forget(deviceId: string): void;
}

export function createNewShapes(): NewShapes {
  const known = createBoundedMap<string, Set<string>>(devicesMax);
  return {
    of(rows) {
      const found = new Map<string, NewShape>();
      for (const row of rows) {
        const name = nameOf(row);
        if (known.use(row.deviceId)?.has(name) === true) continue;
        const key = JSON.stringify([row.deviceId, name]);
        if (!found.has(key)) found.set(key, { row, shape: row.shape.text });
      }
      return [...found.values()];
    },
    stored(shapes) {
      for (const { row } of shapes) {
        const names = known.get(row.deviceId) ?? new Set();
        if (names.size < shapesOfDeviceMax) names.add(nameOf(row));
        known.set(row.deviceId, names);
      }
    },
    forget: (deviceId) => void known.delete(deviceId),
  };
}

function nameOf({ topic, shape }: OpenRow): string {
  return `${topic}\n${shape.text}`;
}
