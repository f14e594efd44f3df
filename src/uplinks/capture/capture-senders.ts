// Senders of captures: found once, when a request is admitted, and limited in uplinks a second.
import type { IncomingHttpHeaders } from 'node:http';
import { TokenBuckets } from '../../access/rate-limits.ts';
import type { UplinkRoute, UplinkRouteCache } from '../../inventory/devices/uplink-route-cache.ts';
import type { DeviceConnector } from '../../model/connector.ts';
import type { EpochMs } from '../../model/instant.ts';
import { problem } from '../../model/problem.ts';
import {
  captureDeviceIdOf,
  type CaptureQuery,
  captureRequestOf,
  captureSecretOf,
} from '../../transports/http/capture-request.ts';

type ConnectorRoutes = Pick<UplinkRouteCache, 'connector' | 'byConnector' | 'revision'>;

/** A device that sends its own payload. */
interface DeviceSender {
  readonly kind: 'device';
  readonly route: UplinkRoute;
  readonly topic: string | null;
  readonly timestamp: EpochMs | null;
  readonly port: string | undefined;
}

/** A network server, which names its devices in the body. */
interface ServerSender {
  readonly kind: 'networkServer';
  readonly connector: DeviceConnector;
}

type Sender = DeviceSender | ServerSender;
/** Found in memory, or read. */
type Looked<S> = S | Promise<S>;

export interface Found<S> {
  readonly organizationId: string;
  /**
   * Returns the sender, looked up again only if a record changed since. Throws like the first
   * look-up.
   */
  readonly current: () => S | Promise<S>;
}

export class CaptureSenders {
  readonly #directory: ConnectorRoutes;
  readonly #limit: UplinkLimit | undefined;

  constructor(directory: ConnectorRoutes, limit?: UplinkLimit) {
    this.#directory = directory;
    this.#limit = limit;
  }

  /**
   * Throws Problem 401 for a wrong secret, 400 for a wrong request, 404 or 403 for a device that
   * is not of the secret.
   */
  readonly ofCapture = (
    query: CaptureQuery,
    headers: IncomingHttpHeaders,
  ): Looked<Found<DeviceSender | ServerSender>> =>
    this.#find((counted) => this.#senderOf(query, headers, counted));

  /** Finds the connector of the uplink secret. Throws Problem 401. */
  readonly ofWebhook = (
    query: CaptureQuery,
    headers: IncomingHttpHeaders,
  ): Looked<Found<DeviceConnector>> =>
    this.#find((counted) => this.#connectorOf(captureSecretOf(query, headers), counted));

  /** The same for a secret that was sent in another way. */
  readonly ofSecret = (uplinkSecret: string): Looked<Found<DeviceConnector>> =>
    this.#find((counted) => this.#connectorOf(uplinkSecret, counted));

  /** `counted` is called with the connector, before its device is looked up: guesses count. */
  #senderOf(query: CaptureQuery, headers: IncomingHttpHeaders, counted: Counted): Looked<Sender> {
    const connector = this.#directory.connector(captureSecretOf(query, headers));
    const found = (known: DeviceConnector) => {
      counted(known);
      return this.#senderOn(known, query, headers);
    };
    // Most are in memory: no turn is waited for them.
    return connector instanceof Promise ? connector.then(found) : found(connector);
  }

  #connectorOf(secret: string, counted: Counted): Looked<DeviceConnector> {
    const connector = this.#directory.connector(secret);
    const found = (known: DeviceConnector) => {
      counted(known);
      return known;
    };
    return connector instanceof Promise ? connector.then(found) : found(connector);
  }

  #senderOn(
    connector: DeviceConnector,
    query: CaptureQuery,
    headers: IncomingHttpHeaders,
  ): Looked<Sender> {
    if (isWebhook(connector, query, headers)) return { kind: 'networkServer', connector };
    const { deviceId, topic, timestamp, port } = captureRequestOf(query, headers);
    const route = this.#directory.byConnector(connector, deviceId);
    const found = (known: UplinkRoute): Sender => ({
      kind: 'device',
      route: known,
      topic,
      timestamp,
      port,
    });
    return route instanceof Promise ? route.then(found) : found(route);
  }

  #find<S extends Sender | DeviceConnector>(
    lookUp: (counted: Counted) => Looked<S>,
  ): Looked<Found<S>> {
    const { revision } = this.#directory;
    let organizationId = '';
    const looked = lookUp((connector) => {
      ({ organizationId } = connector);
      this.#limit?.take(connector.id);
    });
    const found = (sender: S): Found<S> => ({
      organizationId,
      current: () => (this.#directory.revision === revision ? sender : lookUp(() => undefined)),
    });
    return looked instanceof Promise ? looked.then(found) : found(looked);
  }
}

type Counted = (connector: DeviceConnector) => void;

/**
 * With a device id it is a payload for the device of an integration, else a message of the network
 * server itself.
 */
function isWebhook(
  connector: DeviceConnector,
  query: CaptureQuery,
  headers: IncomingHttpHeaders,
): boolean {
  if (connector.decodingType !== 'NONE') return true;
  return connector.integrationId !== null && captureDeviceIdOf(query, headers) === undefined;
}

// Uplink limit: how many uplinks of one secret are taken a second, over HTTP, MQTT and CoAP together.

/** The uplinks of so many seconds may arrive at the same time, such as after an outage. */
const burstSeconds = 10;
const secretsMax = 100_000;

/** A secret is known by its connector, the credential of a device by the device. */
export class UplinkLimit {
  readonly #buckets: TokenBuckets | undefined;

  /** `perSecond` 0 is no limit. */
  constructor(perSecond: number, now: () => EpochMs) {
    if (perSecond === 0) return;
    const capacity = burstSeconds * perSecond;
    this.#buckets = new TokenBuckets({ capacity, perSecond, keysMax: secretsMax, now });
  }

  /** Counts an uplink. Throws Problem 429 when there are too many. */
  take(id: string): void {
    if (this.#buckets === undefined || this.#buckets.take(id)) return;
    throw problem('rateLimited', { retryAfterSeconds: this.#buckets.secondsUntil(id) });
  }

  /** Whether another one would be taken. */
  hasRoomFor(id: string): boolean {
    return this.#buckets === undefined || this.#buckets.left(id) > 0;
  }

  /** Counts an uplink that `hasRoomFor` was asked for. */
  count(id: string): void {
    this.#buckets?.take(id);
  }
}
