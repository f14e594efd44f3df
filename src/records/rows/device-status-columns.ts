// Columns of the device status, one row for each device that ever sent an uplink.

export interface DeviceStatusColumns {
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
