// Columns of the device status, one row for each device that ever sent an uplink.
import type { Generated } from 'kysely';

/** What the owner of the device, of several nodes, wrote last; 0 for the only platform. */
export interface FenceColumns {
  epoch: Generated<number>;
  position: Generated<number>;
}

export interface DeviceStatusColumns extends FenceColumns {
  deviceId: string;
  lastUplinkAt: number;
  /** JSON. */
  uplinkMetrics: string;
  /** That of the device; null when the device is deleted. */
  workspaceId: string | null;
  /** Null for a device that its network server does not know. */
  onlineUntil: number | null;
  /** That of the metrics, for the index of low batteries. */
  batteryLevel: number | null;
}
