// Device kind: the shape of simulated devices. Every kind is one file and one row in kind-table.ts.
import type { EpochMs } from '../../../src/model/instant.ts';
import type { JsonObject } from '../../../src/model/json.ts';

/** One simulated device. Both functions are pure: the same instant always gives the same answer. */
export interface DemoDevice {
  /** The physical device id, an EUI-64. */
  readonly deviceId: string;
  readonly name: string;
  readonly description: string;
  /** Names of tags. */
  readonly tags: readonly string[];
  /** The instants in [from, to) at which the device sends by itself, ascending. */
  uplinkTimes(from: EpochMs, to: EpochMs): readonly EpochMs[];
  /** The raw body that the device sends at the instant, as its network delivers it. */
  payloadAt(at: EpochMs): JsonObject;
}

export interface DeviceKind {
  /** Folder under demo/device-types with the decoder of what these devices send. */
  readonly folder: string;
  readonly flowName: string;
  /** After this silence a device counts as offline. */
  readonly onlineTimeoutS: number;
  /** In live operation every device of the kind is also asked for a payload this often. */
  readonly liveIntervalMs: number;
  readonly devices: readonly DemoDevice[];
}

/** What all descriptions of places share. */
export interface Place {
  readonly name: string;
  readonly description: string;
  readonly tags: readonly string[];
}

/**
 * An EUI-64 from the locally administered range (02:48:45...), so that it can never be a real
 * device's.
 */
export function physicalId(kind: number, device: number): string {
  const digits = (value: number) => value.toString(16).toUpperCase().padStart(4, '0');
  return `0248454C${digits(kind)}${digits(device + 1)}`;
}
