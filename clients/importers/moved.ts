// Moved items: what an export of another platform contains, in the terms of this one.
import type { Json, JsonObject } from '../../src/model/json.ts';

/** Where an item was read. */
export interface Place {
  readonly file: string;
  /** From 1. */
  readonly line: number;
}

/** A device type: scripts as the other platform had them. */
export interface MovedType {
  readonly place: Place;
  readonly name: string;
  readonly decoder: string | null;
  readonly encoder: string | null;
}

export interface MovedDevice {
  readonly place: Place;
  readonly deviceId: string;
  readonly name: string;
  readonly description: string | null;
  /** Name of its type; null for devices whose uplinks are samples already. */
  readonly type: string | null;
  readonly tags: readonly string[];
  readonly customFields: JsonObject;
  /** Null for devices without LoRaWAN. */
  readonly lora: JsonObject | null;
}

export interface MovedSample {
  readonly place: Place;
  readonly deviceId: string;
  readonly topic: string;
  /** Epoch milliseconds, or ISO-8601. */
  readonly timestamp: number | string;
  readonly data: Readonly<Record<string, Json>>;
  readonly meta?: JsonObject;
}

/** An item that is not imported. */
export interface Remark {
  readonly place: Place;
  readonly outcome: 'skip' | 'error';
  readonly kind: string;
  readonly name: string;
  readonly reason: string;
}

export interface Moved {
  readonly types: readonly MovedType[];
  readonly devices: readonly MovedDevice[];
  readonly remarks: readonly Remark[];
  /** Samples in the same order at each call. */
  readonly samples: () => AsyncIterable<readonly MovedSample[]>;
  /** Removes temporary files. */
  readonly close: () => void;
}

/** How a reader signs in to a server of ThingsBoard: with a token, or with a name and a password. */
export interface ThingsBoardCredentials {
  readonly token: string | undefined;
  readonly username: string | undefined;
  readonly password: string | undefined;
}

/** Settings of a reader, from the command line. */
export interface ReadOptions {
  /** Templates of the physical id, for InfluxDB. */
  readonly device: readonly string[] | undefined;
  readonly topic: string | undefined;
  /** Database whose lines are read, for exports of InfluxDB that contain several. */
  readonly database: string | undefined;
  /** For the server of ThingsBoard. */
  readonly thingsBoard: ThingsBoardCredentials;
  /** Folder of temporary files. */
  readonly work: string;
  readonly signal: AbortSignal;
}

/** What is read from another platform. */
export interface Source {
  readonly title: string;
  /** Type of the integration of its devices; null for devices that send over HTTP. */
  readonly integration: 'TTN' | 'CHIRP_STACK' | null;
  readonly read: (files: readonly string[], options: ReadOptions) => Promise<Moved>;
}

export async function* samplesOf(
  samples: readonly MovedSample[],
): AsyncGenerator<readonly MovedSample[]> {
  if (samples.length > 0) yield samples;
}
