// Line protocol mapping: how points of InfluxDB line protocol become samples of devices.

export interface LineProtocolMapping {
  /**
   * Templates of the physical id, such as `{host}` or `{domain}.{entity_id}`. The first one whose
   * tags a point has names its device.
   */
  readonly device: readonly string[];
  /** Template of the topic: `{measurement}`, a tag such as `{room}`, or a fixed topic. */
  readonly topic: string;
  /** Points of unknown devices create them; null rejects such points. */
  readonly createDevices: {
    /** Devices that the data flow has at most. */
    readonly devicesMax: number;
  } | null;
}

export const lineProtocolDefaults: LineProtocolMapping = {
  device: ['{device}', '{device_id}', '{host}', '{entity_id}'],
  topic: '{measurement}',
  createDevices: null,
};

export const lineProtocolLimits = {
  deviceTemplatesMax: 10,
  templateLengthMax: 200,
  /** Of `createDevices.devicesMax`. */
  devicesMax: 100_000,
} as const;
