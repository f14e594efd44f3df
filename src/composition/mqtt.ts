// Composes MQTT: ports, logins, uplinks, messages to devices, configurations, and what ends a connection.
import { readFileSync } from 'node:fs';
import type { IncomingMessage, Server } from 'node:http';
import type { Duplex } from 'node:stream';
import { attempts } from '../access/sign-in-throttle.ts';
import type { Parts } from './platform-parts.ts';
import type { Uplinks } from './uplinks.ts';
import { type Config, ConfigError } from '../config.ts';
import { handleMqttPayload } from '../flows/mqtt-uplink.ts';
import { parseJsonBody } from '../http/edge/json-body.ts';
import { attachMqttSocket } from '../http/streams/mqtt-socket.ts';
import { tokenAudiences } from '../ingest/mqtt/device-token.ts';
import type { DuplicateFilter } from '../ingest/duplicate-filter.ts';
import { certificateWatch } from '../ingest/mqtt/mqtt-certificate.ts';
import { type BrokerParts, type MqttBroker, openMqttBroker } from '../ingest/mqtt/mqtt-broker.ts';
import { mqttLimits } from '../ingest/mqtt/mqtt-limits.ts';
import { type Certificate, listenMqtt, type MqttListener } from '../ingest/mqtt/mqtt-listeners.ts';
import { type LoginParts, logIn } from '../ingest/mqtt/mqtt-login.ts';
import { mqttRevocation } from '../ingest/mqtt/mqtt-revocation.ts';
import { retainedMessages } from '../ingest/mqtt/mqtt-retained.ts';
import type { FindRoute } from '../ingest/mqtt/mqtt-route.ts';
import type {
  DeliveryOutcome,
  DeviceSubscription,
  MqttSession,
} from '../ingest/mqtt/mqtt-session.ts';
import { downLevelsOf, levelsMatch } from '../ingest/mqtt/mqtt-topic.ts';
import type { PushConfiguration } from '../inventory/devices/device-configurations.ts';
import type { UplinkRoute } from '../inventory/devices/uplink-route-cache.ts';
import { problem } from '../model/problem.ts';
import type { QuotaCount } from '../model/quota-count.ts';
import { findDeviceConfiguration } from '../records/rows/device-configurations.ts';
import { findDeviceConnector } from '../records/rows/device-connectors.ts';
import {
  findDeviceCredentials,
  findDevicesWithCredentials,
} from '../records/rows/device-credentials.ts';
import { findDevice } from '../records/rows/devices.ts';
import { setTimer } from '../structures/timers.ts';

const expiryCheckMs = 10_000;
const configurationTopic = 'configuration';

export interface Mqtt {
  /**
   * Sends to whoever is subscribed for the device; `acknowledged` for QoS 1 when the device says so, `offline` when nobody was there
   * or the connection broke before. The topic is what comes behind the device id (contract 17).
   */
  readonly publishToDevice: (
    serviceDeviceId: string,
    topic: string,
    payload: Buffer,
    options: { readonly qos: 0 | 1; readonly retain: boolean },
  ) => Promise<DeliveryOutcome>;
  /** The listener is told a service device id whenever somebody has subscribed for the device. */
  readonly onDeviceConnected: (listener: (serviceDeviceId: string) => void) => void;
  readonly pushConfiguration: PushConfiguration;
  /** Opens the ports, and `/mqtt` of the server. */
  readonly listen: (server: Server) => Promise<void>;
  readonly close: () => Promise<void>;
}

export function composeMqtt(parts: Parts, uplinks: Uplinks, duplicates: DuplicateFilter): Mqtt {
  const { telemetry, now } = parts;
  const connected: ((serviceDeviceId: string) => void)[] = [];
  const retained = retainedMessages();
  const login = loginPartsOf(parts);
  const guesses = attempts(now);
  const findRoute = findRouteIn(parts);
  let opened: Promise<MqttBroker> | undefined;
  let broker: MqttBroker | undefined;

  const send = async (
    id: string,
    topic: string,
    payload: Buffer,
    { qos, retain }: { qos: 0 | 1; retain: boolean },
  ) => {
    const levels = downLevelsOf(topic, mqttLimits.topicLevelsMax - 5);
    if (levels === undefined)
      throw problem('invalidRequest', { reason: `topic: ${topic} cannot be sent on` });
    if (broker !== undefined) return broker.deliveries.send(id, { levels, payload, qos, retain });
    if (retain) retained.keep(id, 'down', { levels, payload, qos });
    return 'offline' as const;
  };
  const brokerParts: BrokerParts<UplinkRoute> = {
    findRoute,
    store: (route, payload) =>
      handleMqttPayload(route, payload, {
        ...uplinks,
        duplicates,
        parseJson: parseJsonBody,
        repeated: telemetry.mqttRepeated,
        newId: parts.newId,
        now,
      }),
    retained,
    logIn: (address, credential) =>
      guesses.run(
        { ip: address },
        () => logIn(credential, login),
        (outcome) => 'refused' in outcome,
      ),
    countWebSocket: (organizationId, conn) =>
      countedUntilClose(parts.openCounts.webSockets, organizationId, conn),
    reachable(session, subscription) {
      for (const tell of connected) tell(subscription.id);
      pushOnConnect(parts, broker!, session, subscription).catch((error: unknown) =>
        telemetry.backgroundFailed('pushing a configuration', error),
      );
    },
    doubt: duplicates.doubt,
    refused: telemetry.mqttRefused,
    ended: telemetry.mqttEnded,
    now,
    schedule: setTimer,
  };
  const accept = (conn: Duplex, address: string, request?: IncomingMessage): void => {
    if (broker !== undefined) return broker.accept(conn, address, request);
    opened ??= openMqttBroker(brokerParts).then((made) => (broker = made));
    opened.then(
      (made) => made.accept(conn, address, request),
      (error: unknown) => {
        telemetry.backgroundFailed('starting MQTT', error);
        conn.destroy();
      },
    );
  };
  const revocation = mqttRevocation({
    broker: () => broker,
    login,
    findRoute,
    failed: (error) => telemetry.backgroundFailed('ending MQTT connections', error),
  });
  parts.followChanges((change) => {
    revocation.recordChanged(change);
    if (change.kind === 'device' && change.action === 'deleted') retained.forget(change.id);
  });
  gauges(parts, () => broker);
  return {
    publishToDevice: send,
    onDeviceConnected: (listener) => void connected.push(listener),
    async pushConfiguration({ deviceId, configuration }) {
      const payload = Buffer.from(JSON.stringify(configuration));
      const outcome = await send(deviceId, configurationTopic, payload, { qos: 1, retain: false });
      if (outcome === 'offline')
        throw problem('configurationNotPushable', { reason: 'the device is not connected' });
    },
    ...ports(
      parts,
      accept,
      async () => broker?.close(),
      () => {
        revocation.endExpired(now());
        broker?.store.dropOld();
      },
    ),
  };
}

function countedUntilClose(count: QuotaCount, organizationId: string, conn: Duplex): boolean {
  if (conn.closed) return true;
  if (!count.take(organizationId, 1)) return false;
  conn.once('close', () => count.give(organizationId, 1));
  return true;
}

function ports(
  { config, now, telemetry }: Parts,
  accept: (conn: Duplex, address: string, request?: IncomingMessage) => void,
  closeBroker: () => Promise<void>,
  tick: () => void,
): Pick<Mqtt, 'listen' | 'close'> {
  const listeners: MqttListener[] = [];
  const closers: (() => void)[] = [];
  return {
    async listen(server) {
      const { host, mqttPort, mqttTlsPort, trustedProxies } = config;
      const certificate = certificateIn(config);
      let look: () => Promise<void> = async () => undefined;
      if (mqttPort !== 0)
        listeners.push(await listenMqtt({ host, port: mqttPort }, undefined, accept));
      if (mqttTlsPort !== 0 && certificate !== undefined) {
        const listener = await listenMqtt({ host, port: mqttTlsPort }, certificate, accept);
        listeners.push(listener);
        look = certificateLook(config, certificate, listener, telemetry);
      }
      closers.push(attachMqttSocket(server, { accept, trustedProxies, now }));
      const timer = setInterval(() => {
        tick();
        void look();
      }, expiryCheckMs);
      closers.push(() => clearInterval(timer));
    },
    async close() {
      for (const listener of listeners) listener.close();
      for (const close of closers) close();
      await closeBroker();
    },
  };
}

function certificateIn({ mqttTlsCert, mqttTlsKey }: Config): Certificate | undefined {
  if (mqttTlsCert === undefined || mqttTlsKey === undefined) return undefined;
  const read = (name: string, path: string) => {
    try {
      return readFileSync(path);
    } catch {
      throw new ConfigError(`${name}=${path} cannot be used: the file cannot be read`);
    }
  };
  return { cert: read('MQTT_TLS_CERT', mqttTlsCert), key: read('MQTT_TLS_KEY', mqttTlsKey) };
}

function certificateLook(
  { mqttTlsCert: cert, mqttTlsKey: key }: Config,
  certificate: Certificate,
  listener: MqttListener,
  telemetry: Parts['telemetry'],
): () => Promise<void> {
  return certificateWatch({ cert: cert!, key: key! }, certificate, {
    renew: (found) => listener.renew(found),
    renewed: telemetry.mqttCertificateRenewed,
    failed: (error) => telemetry.backgroundFailed('renewing the certificate of MQTT', error),
  });
}

function loginPartsOf({ config, records, now }: Parts): LoginParts {
  return {
    findConnector: (id) => findDeviceConnector(records, id),
    findDevices: (deviceId) => findDevicesWithCredentials(records, deviceId),
    findDevice: (id) => findDevice(records, id),
    findCredentials: (id) => findDeviceCredentials(records.db, id),
    audiencesOf: (deviceId) =>
      tokenAudiences(config.deviceAudience, config.vendorAliases, deviceId),
    now,
  };
}

function findRouteIn({ directory }: Parts): FindRoute<UplinkRoute> {
  return (identity, deviceId) =>
    identity.mode === 'secret'
      ? directory.bySecret(identity.secret, deviceId)
      : directory.byDevice(identity.id);
}

/** The newest configuration, once per connection, where the connector says so (contract 12). */
async function pushOnConnect(
  { directory, records }: Parts,
  { deliveries }: MqttBroker,
  session: MqttSession,
  { id, filter }: DeviceSubscription,
): Promise<void> {
  const levels = [configurationTopic];
  if (
    filter.direction !== 'down' ||
    !levelsMatch(filter.levels, levels) ||
    session.configured.has(id)
  )
    return;
  session.configured.add(id);
  const { connector } = await directory.byDevice(id);
  if (!connector.pushConfigurationAutomatically) return;
  const latest = await findDeviceConfiguration(records.db, id, 'latest');
  if (latest === undefined) return;
  const payload = Buffer.from(JSON.stringify(latest.configuration));
  await deliveries.sendTo(session, id, { levels, payload, qos: 1, retain: false });
}

function gauges({ telemetry }: Parts, broker: () => MqttBroker | undefined): void {
  telemetry.gauge('mqtt_connections', 'Open MQTT connections.', () => broker()?.sessions.size ?? 0);
  telemetry.gauge(
    'mqtt_publishes_under_way',
    'MQTT publishes that are not durable yet.',
    () => broker()?.gate.inFlight ?? 0,
  );
  telemetry.gauge(
    'mqtt_sessions_kept',
    'Sessions of MQTT clients that outlive their connection.',
    () => broker()?.store.size ?? 0,
  );
}
