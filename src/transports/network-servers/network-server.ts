// Network server: the reader of its webhooks, and its API for downlinks and registration (contract 35).
import type { EpochMs } from '../../model/instant.ts';
import type { JsonObject } from '../../model/json.ts';
import type { DownlinkState } from '../../model/downlink.ts';
import type { NoteLevel } from '../../model/entry-trace.ts';
import type { RadioMetrics } from '../../model/uplink-metrics.ts';

/** A payload of a device. */
export interface ServerUplink {
  readonly kind: 'uplink';
  /** The device's id at the server, in lower case. */
  readonly deviceEui: string;
  /** What decoders get: for LoRaWAN `port` and `payloadHex`. */
  readonly body: JsonObject;
  readonly metrics: RadioMetrics;
  /** Time of reception by the network; null if the server does not report it. */
  readonly time: EpochMs | null;
  /** The same for every repetition of one frame: session and frame counter. */
  readonly duplicateKey?: string;
  /** The server's name of the device, if downlinks need it. */
  readonly serverDeviceId?: string;
}

/**
 * A frame without anything for a decoder, such as one of MAC commands: a sign of life with its radio
 * metrics.
 */
export interface ServerFrame {
  readonly kind: 'frame';
  readonly deviceEui: string;
  readonly metrics: RadioMetrics;
  readonly duplicateKey?: string;
  readonly level: NoteLevel;
  readonly message: string;
  readonly details?: JsonObject;
}

/** Something that happened to a device and is no frame of it, such as a join. */
export interface ServerNote {
  readonly kind: 'note';
  readonly deviceEui: string;
  readonly level: NoteLevel;
  readonly message: string;
  readonly details?: JsonObject;
}

/** The status of a downlink. */
export interface ServerDownlinkReport {
  readonly kind: 'downlink';
  readonly deviceEui: string;
  readonly state: Exclude<DownlinkState, 'EXPIRED'>;
  /** The platform's id, if the server returns it. */
  readonly downlinkId?: string;
  /** The server's id, from its answer to the downlink request. */
  readonly serverReference?: string;
  readonly reason?: string;
}

export type ServerEvent = ServerUplink | ServerFrame | ServerNote | ServerDownlinkReport;

/** The query of a webhook request: some servers name the kind of event there. */
export type WebhookQuery = Readonly<Record<string, unknown>>;

/** The settings of an integration, secrets in clear. */
export type ServerProperties = Readonly<Record<string, string>>;

/** A device, as it is registered at servers. */
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
  /** Further statuses that mean success, such as 404 for the deletion of an unknown device. */
  readonly alsoAccepted?: readonly number[];
}

export interface DownlinkApi {
  /** Properties that an integration needs before anything can be sent. */
  readonly needs: readonly string[];
  /**
   * The requests that send a downlink, in order. The last answer has its reference. `now` is for
   * signatures.
   */
  readonly calls: (
    /** A downlink as servers take it. */
    downlink: {
      readonly id: string;
      readonly port: number;
      readonly confirmed: boolean;
      readonly payloadHex: string;
      /** It replaces the downlinks that wait at the server. */
      readonly replaces: boolean;
    },
    device: ServerDevice,
    properties: ServerProperties,
    now: EpochMs,
  ) => readonly ServerCall[];
  /** The server's id of the downlink, from its answer; undefined if it has none. */
  readonly referenceOf?: (answer: JsonObject) => string | undefined;
  /** The error in an answer 200; undefined without one. */
  readonly refusalOf?: (answer: JsonObject) => string | undefined;
}

export interface RegistrationApi {
  readonly needs: readonly string[];
  /** Throws Problem if the device lacks a property that the server requires. */
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
