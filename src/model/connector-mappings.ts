// Connector mappings: how points of InfluxDB line protocol and metrics of Sparkplug become samples of devices.

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

// Sparkplug mapping: which devices the edge nodes of a connector and their devices are.

export interface SparkplugMapping {
  /** Template of the physical id of an edge node: `{group}` and `{edge}`. */
  readonly node: string;
  /** Template of the physical id of a device of an edge node: also `{device}`. */
  readonly device: string;
  /** Topic of the samples. */
  readonly topic: string;
  /** Name under which the platform is a host: edge nodes can wait until it is online. */
  readonly hostId: string;
  /** Births of unknown edge nodes and devices create them; null rejects them. */
  readonly createDevices: {
    /** Devices that the data flow has at most. */
    readonly devicesMax: number;
  } | null;
}

export const sparkplugDefaults: SparkplugMapping = {
  node: '{group}/{edge}',
  device: '{group}/{edge}/{device}',
  topic: 'default',
  hostId: 'heliograph',
  createDevices: null,
};

export const sparkplugMappingLimits = {
  templateLengthMax: 200,
  hostIdLengthMax: 100,
  /** Of `createDevices.devicesMax`. */
  devicesMax: 100_000,
} as const;
