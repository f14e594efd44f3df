// What a network server is here: its webhooks read into events, and its own API for downlinks and registration (contract 35).
import type { EpochMs } from '../model/instant.ts';
import type { JsonObject } from '../model/json.ts';
import type { DownlinkState } from '../model/downlink.ts';
import type { NoteLevel } from '../model/processing-note.ts';
import type { RadioMetrics } from '../model/uplink-metrics.ts';

/** A payload of a device. */
export interface ServerUplink {
  readonly kind: 'uplink';
  /** What the server knows the device by, in lower case. */
  readonly deviceEui: string;
  /** What decoders are given; for LoRaWAN `port` and `payloadHex`. */
  readonly body: JsonObject;
  readonly metrics: RadioMetrics;
  /** When the network heard it; null when the server does not say. */
  readonly time: EpochMs | null;
  /** The same for every repetition of one frame: session and frame counter. */
  readonly duplicateKey?: string;
  /** What the server itself names the device, where downlinks need that name. */
  readonly serverDeviceId?: string;
}

/** Something that happened to a device and carries no payload, such as a join. */
export interface ServerNote {
  readonly kind: 'note';
  readonly deviceEui: string;
  readonly level: NoteLevel;
  readonly message: string;
  readonly details?: JsonObject;
}

/** What became of a downlink. */
export interface ServerDownlinkReport {
  readonly kind: 'downlink';
  readonly deviceEui: string;
  readonly state: Exclude<DownlinkState, 'EXPIRED'>;
  /** Our id, when the server carries it. */
  readonly downlinkId?: string;
  /** The server's own id of it, as it answered when the downlink was handed over. */
  readonly serverReference?: string;
  readonly reason?: string;
}

export type ServerEvent = ServerUplink | ServerNote | ServerDownlinkReport;

/** The query of a webhook request: some servers name the kind of event there. */
export type WebhookQuery = Readonly<Record<string, unknown>>;

/** The settings of an integration, secrets in clear. */
export type ServerProperties = Readonly<Record<string, string>>;

/** A downlink as servers take it. */
export interface ServerDownlink {
  readonly id: string;
  readonly port: number;
  readonly confirmed: boolean;
  readonly payloadHex: string;
  /** Whether it takes the place of what waits at the server. */
  readonly replaces: boolean;
}

/** A device as servers are told of it. */
export interface ServerDevice {
  /** 16 hexadecimal digits in lower case. */
  readonly deviceEui: string;
  readonly name: string;
  readonly loraProperties: JsonObject;
}

/** One request of a server's API. */
export interface ServerCall {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  readonly url: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: JsonObject;
  /** Refusals that mean it is so already, such as deleting what is not there. */
  readonly fineToo?: readonly number[];
}

export interface DownlinkApi {
  /** Properties that an integration needs before anything can be sent. */
  readonly needs: readonly string[];
  /** The requests that hand a downlink over, in order; the last one's answer tells its reference. `now` signs requests. */
  readonly calls: (
    downlink: ServerDownlink,
    device: ServerDevice,
    properties: ServerProperties,
    now: EpochMs,
  ) => readonly ServerCall[];
  /** The server's id of the downlink, from its answer; undefined when it has none. */
  readonly referenceOf?: (answer: JsonObject) => string | undefined;
  /** A refusal inside of an answer 200; undefined for consent. */
  readonly refusalOf?: (answer: JsonObject) => string | undefined;
}

export interface RegistrationApi {
  readonly needs: readonly string[];
  /** Throws Problem when the device lacks what the server asks for. */
  readonly register: (device: ServerDevice, properties: ServerProperties) => readonly ServerCall[];
  readonly deregister: (
    device: ServerDevice,
    properties: ServerProperties,
  ) => readonly ServerCall[];
}

export interface NetworkServer {
  /** Throws Problem `webhookInvalid` naming the first field that cannot be used. */
  readonly read: (body: JsonObject, query: WebhookQuery) => readonly ServerEvent[];
  readonly downlinks?: DownlinkApi;
  readonly registration?: RegistrationApi;
}
