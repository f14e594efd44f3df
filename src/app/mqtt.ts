// Connects MQTT: logins, uplinks, messages to devices, configurations, revocation and the ports.
import type { Server } from 'node:http';
import { Attempts, networkOf, secretLimits } from '../access/rate-limits.ts';
import {
  createConfigurationPush,
  createMqttTransport,
  pushOnConnect,
} from '../downlinks/mqtt-transport.ts';
import type { SendDownlink } from '../downlinks/downlink-transport.ts';
import { attachMqttSocket } from '../http/streams/mqtt-socket.ts';
import type { Edges } from '../http/threads/edges.ts';
import { createDeviceCreation } from '../inventory/devices/device-batch.ts';
import type { PushConfiguration } from '../inventory/devices/device-configurations.ts';
import type { UplinkRoute } from '../inventory/devices/uplink-route-cache.ts';
import {
  findDevicesWithCredentials,
  deviceCredentialRows,
} from '../storage/records/rows/credentials.ts';
import { deviceConfigurationRows } from '../storage/records/rows/downlinks.ts';
import { deviceConnectorRows } from '../storage/records/rows/data-flows.ts';
import { deviceRows } from '../storage/records/rows/devices.ts';
import type { Certificate } from '../structures/certificate-watch.ts';
import { closeInOrder } from '../structures/closers.ts';
import { setRepeatingTimer, setTimer } from '../structures/timers.ts';
import type { DuplicateFilter } from '../transports/duplicate-filter.ts';
import {
  logIn,
  type Login,
  type LoginParts,
  looksLikeToken,
  type MqttIdentity,
  tokenAudiences,
} from '../transports/mqtt/mqtt-login.ts';
import { type AcceptMqtt, MqttBrokerOnDemand } from '../transports/mqtt/mqtt-broker-on-demand.ts';
import type { BrokerParts } from '../transports/mqtt/mqtt-broker-state.ts';
import type { MqttBroker } from '../transports/mqtt/mqtt-broker.ts';
import { listenMqtt, type MqttListener } from '../transports/mqtt/mqtt-listeners.ts';
import type { DroppedPublish } from '../transports/mqtt/mqtt-publish.ts';
import { createMqttPublisher } from '../transports/mqtt/mqtt-publisher.ts';
import { Retained } from '../transports/mqtt/mqtt-retained.ts';
import { MqttRevocation } from '../transports/mqtt/mqtt-revocation.ts';
import { type FindRoute, SessionStore } from '../transports/mqtt/mqtt-session.ts';
import { takeUntilClose } from '../transports/mqtt/mqtt-login-limiter.ts';
import type { SparkplugIntake } from '../transports/sparkplug/sparkplug-topic.ts';
import { MqttUplinks } from '../uplinks/capture/mqtt-uplink.ts';
import { SparkplugNodes, SparkplugUplinks } from '../uplinks/capture/sparkplug-intake.ts';
import { createDeviceNotes } from '../uplinks/device-events.ts';
import { followCertificate, readCertificate } from './certificates.ts';
import type { composeMqttNodes, MqttNodes } from './shared-work.ts';
import type { Parts } from './platform-parts.ts';
import type { Uplinks } from './uplinks.ts';

export interface Mqtt {
  /**
   * Adds a listener, which is called with the service device id when a client has subscribed for
   * the device.
   */
  readonly onDeviceConnected: (listener: (serviceDeviceId: string) => void) => void;
  readonly sendDownlink: SendDownlink;
  /** False as soon as connections end. */
  readonly servesForwarded: () => boolean;
  /** Serves a connection that another node has forwarded. */
  readonly acceptForwarded: AcceptMqtt;
  readonly pushConfiguration: PushConfiguration;
  /** Opens the ports, in the threads if there are any, and `/mqtt` of the server. */
  readonly listen: (server: Server, threads: Edges | undefined) => Promise<void>;
  /** Resolves when the next nodes of the workspaces of this one have what it kept, or after a time. */
  readonly handedOver: () => Promise<void>;
  /** Ends all connections. May be called again. */
  readonly close: () => Promise<void>;
}

export async function composeMqtt(
  parts: Parts,
  uplinks: Uplinks,
  duplicates: DuplicateFilter,
): Promise<Mqtt> {
  const { telemetry, newId, now } = parts;
  const connected: ((serviceDeviceId: string) => void)[] = [];
  const retained = new Retained(parts.directory.organizationOf);
  const login = loginPartsOf(parts);
  const findRoute = findRouteIn(parts);
  const reachable = reachableOf(parts, connected, () => broker.opened());
  const { handleUplink } = uplinks;
  const { mqttRepeated } = telemetry;
  const taken = new MqttUplinks(handleUplink, duplicates, parts.turns, mqttRepeated, newId, now);
  const keptSessions = new SessionStore(now);
  const opened = () => broker.opened();
  const nodes = await nodesOf(parts, login, { retained, keptSessions, broker: opened });
  const sparkplug = composeSparkplug(parts, uplinks, (id) => {
    for (const tell of connected) tell(id);
  });
  const { intake } = sparkplug;
  const brokerParts = brokerPartsOf(parts, {
    store: taken.take,
    doubt: duplicates.doubt,
    retained,
    login,
    reachable,
    sparkplug: intake,
    keptSessions,
    placeOf: nodes?.placeOf,
  });
  const broker = brokerOnDemand(parts, brokerParts);
  const publishHere = createMqttPublisher(broker.opened, retained);
  const publishToDevice = nodes?.shared.publishAtHolder(publishHere) ?? publishHere;
  const sendHere = createMqttTransport(publishHere, sparkplug.command);
  const revocation = new MqttRevocation(broker.opened, login, findRoute, (error) =>
    telemetry.backgroundFailed('ending MQTT connections', error),
  );
  parts.followChanges({
    recordChanged(change) {
      revocation.recordChanged(change);
      if (change.kind === 'device' && change.action === 'deleted') retained.forget(change.id);
    },
    changesMissed: revocation.changesMissed,
  });
  addGauges(parts, broker.opened, keptSessions);
  const tick = () => {
    revocation.endExpired(now());
    keptSessions.dropOld();
  };
  const ports = composeMqttPorts(parts, broker, tick);
  let closing: Promise<void> | undefined;
  return {
    sendDownlink: nodes?.shared.downlinkAtHolder(sendHere) ?? sendHere,
    servesForwarded: () => closing === undefined,
    acceptForwarded: broker.accept,
    onDeviceConnected: (listener) => void connected.push(listener),
    pushConfiguration: createConfigurationPush(publishToDevice),
    handedOver: async () => nodes?.shared.handedOver(),
    listen: ports.listen,
    close() {
      closing ??= ports.close();
      return closing;
    },
  };
}

function brokerOnDemand({ telemetry }: Parts, brokerParts: Broker) {
  return new MqttBrokerOnDemand(
    async () => {
      const { MqttBroker } = await import('../transports/mqtt/mqtt-broker.ts');
      return new MqttBroker(brokerParts);
    },
    (error) => telemetry.backgroundFailed('starting MQTT', error),
  );
}

function reachableOf(
  { directory, records, telemetry }: Parts,
  connected: readonly ((serviceDeviceId: string) => void)[],
  opened: () => MqttBroker | undefined,
): Broker['reachable'] {
  return (session, subscription) => {
    for (const tell of connected) tell(subscription.id);
    pushOnConnect(session, subscription, {
      findRoute: (id) => directory.byDevice(id),
      findLatest: (id) => deviceConfigurationRows.find(records.db, id, 'latest'),
      sendTo: (...message) => opened()?.deliveries.sendTo(...message),
    }).catch((error: unknown) => telemetry.backgroundFailed('pushing a configuration', error));
  };
}

/** Loaded only with several nodes. */
async function nodesOf(
  parts: Parts,
  login: LoginParts,
  kept: Parameters<typeof composeMqttNodes>[3],
): Promise<MqttNodes | undefined> {
  const { messages } = parts;
  if (messages === undefined) return undefined;
  const { composeMqttNodes: compose } = await import('./shared-work.ts');
  return compose(parts, messages, login, kept);
}

type Broker = BrokerParts<UplinkRoute>;

function brokerPartsOf(
  parts: Parts,
  {
    login,
    ...own
  }: {
    readonly store: Broker['store'];
    readonly doubt: Broker['doubt'];
    readonly retained: Retained;
    readonly login: LoginParts;
    readonly reachable: Broker['reachable'];
    readonly sparkplug: Sparkplug['intake'];
    readonly keptSessions: SessionStore;
    readonly placeOf: Broker['placeOf'];
  },
): Broker {
  const { telemetry, now, openCounts, quotaUse, uplinkLimit } = parts;
  const guesses = new Attempts(now, secretLimits);
  quotaUse.readBy('mqttConnections', openCounts.mqttConnections.usedBy);
  return {
    ...own,
    findRoute: findRouteIn(parts),
    async logIn(address, credential) {
      const outcome = await guesses.run(
        { ip: address },
        () => logIn(credential, login),
        (tried) => 'refused' in tried,
      );
      if ('refused' in outcome) tellWrongLogin(parts, address, credential, outcome.refused);
      return outcome;
    },
    dropped: droppedIn(parts),
    countWebSocket: (organizationId, conn) =>
      takeUntilClose(openCounts.webSockets, organizationId, conn),
    connectionCount: openCounts.mqttConnections,
    publishLimit: {
      hasRoomFor: (id) => uplinkLimit.hasRoomFor(id),
      count: (id) => uplinkLimit.count(id),
    },
    networkOf,
    refused: telemetry.mqttRefused,
    ended: telemetry.mqttEnded,
    now,
    setTimer,
  };
}

/** The owner of the connector that the user name names, or of the device, finds a wrong login. */
function tellWrongLogin(
  { refusals }: Parts,
  address: string,
  { userName, clientId, password }: Login,
  message: string,
): void {
  const isOfDevice = looksLikeToken(password);
  refusals.add(
    { address, ...(!isOfDevice && { connectorId: userName }) },
    {
      transport: 'MQTT',
      failure: { status: 401, message },
      deviceId: isOfDevice ? clientId : null,
      bytes: 0,
    },
  );
}

/** The owner of the connector finds what its clients published in vain. */
function droppedIn({ refusals, directory }: Parts): BrokerParts<UplinkRoute>['dropped'] {
  const tell = async (identity: MqttIdentity, publish: DroppedPublish): Promise<void> => {
    const connectorId =
      identity.mode === 'secret'
        ? identity.connectorId
        : (await directory.byDevice(identity.id)).connector.id;
    refusals.add({ connectorId }, { transport: 'MQTT', ...publish });
  };
  // Without a connector there is no owner to tell.
  return (identity, publish) => void tell(identity, publish).catch(() => undefined);
}

function loginPartsOf({ config, address, directory, records, now }: Parts): LoginParts {
  return {
    knownConnector: directory.knownConnector,
    findConnector: (id) => deviceConnectorRows.find(records, id),
    findDevices: (deviceId) => findDevicesWithCredentials(records, deviceId),
    findDevice: (id) => deviceRows.find(records, id),
    findCredentials: (id) => deviceCredentialRows.ofDevice(records.db, id),
    audiencesOf: (deviceId) =>
      tokenAudiences(address.deviceAudience(), config.vendorAliases, deviceId),
    now,
  };
}

function findRouteIn({ directory }: Parts): FindRoute<UplinkRoute> {
  return (identity, deviceId) =>
    identity.mode === 'secret'
      ? directory.bySecret(identity.secret, deviceId)
      : directory.byDevice(identity.id);
}

function addGauges(
  { telemetry }: Parts,
  broker: () => MqttBroker | undefined,
  keptSessions: SessionStore,
): void {
  telemetry.gauge('mqtt_connections', 'Open MQTT connections.', () => broker()?.sessions.size ?? 0);
  telemetry.gauge(
    'mqtt_publishes_under_way',
    'MQTT publishes waiting for a durable write.',
    () => broker()?.flowControl.inFlight ?? 0,
  );
  telemetry.gauge('mqtt_sessions_kept', 'Persistent MQTT sessions.', () => keptSessions.size);
}

// Connects Sparkplug: the edge nodes of the broker, their devices, and the memory of their births.

interface Sparkplug {
  readonly intake: SparkplugIntake;
  readonly command: SparkplugNodes['command'];
}

/** `reachable` is called with the service id of a device that can be sent commands. */
function composeSparkplug(
  { directory, records, refusals, telemetry, newId, now }: Parts,
  { handleUplink, appendEntry }: Uplinks,
  reachable: (serviceDeviceId: string) => void,
): Sparkplug {
  const nodes = new SparkplugNodes(now);
  telemetry.gauge('sparkplug_nodes', 'Connected Sparkplug edge nodes.', () => nodes.size);
  const devices = {
    connectorOf: (id: string) =>
      directory.knownConnector(id) ?? deviceConnectorRows.find(records, id),
    routeOf: directory.byConnector,
    routeOfDevice: (id: string) => directory.byDevice(id),
    createDevices: createDeviceCreation(records),
  };
  const note = createDeviceNotes({ appendEntry, newId, now });
  const intake = new SparkplugUplinks(
    nodes,
    devices,
    handleUplink,
    note,
    {
      refused: telemetry.mqttRefused,
      dropped: (connectorId, uplink) =>
        refusals.add({ connectorId }, { transport: 'MQTT', ...uplink }),
      reachable,
      failed: (error) => telemetry.backgroundFailed('storing Sparkplug messages', error),
    },
    newId,
    now,
  );
  return { intake, command: nodes.command };
}

// Connects the ports of MQTT: TCP, TLS with a certificate that is read again when it changes, and WebSockets.

const tickEveryMs = 10_000;

type ListenMqtt = (
  where: { readonly host: string; readonly port: number },
  certificate: Certificate | undefined,
) => Promise<MqttListener>;

/** `tick` runs every ten seconds while the ports are open. */
function composeMqttPorts(
  parts: Parts,
  { accept, close }: MqttBrokerOnDemand,
  tick: () => void,
): {
  readonly listen: Mqtt['listen'];
  readonly close: () => Promise<void>;
} {
  const { config, now } = parts;
  const { host, mqttPort, trustedProxies, publicUrl } = config;
  const closers: (() => unknown)[] = [];
  return {
    async listen(server, threads) {
      const listen: ListenMqtt = (where, certificate) =>
        threads === undefined
          ? listenMqtt(where, certificate, accept)
          : threads.listenMqtt(where, certificate, accept);
      if (mqttPort !== 0) {
        const listener = await listen({ host, port: mqttPort }, undefined);
        closers.push(listener.close);
      }
      await listenTls(parts, listen, closers);
      closers.push(
        attachMqttSocket(server, { accept, trustedProxies, now, publicUrl }),
        setRepeatingTimer(tick, tickEveryMs),
      );
    },
    close: () => closeInOrder(...closers, close),
  };
}

/**
 * Adds what it opened to the closers. Throws ConfigError when a file of the certificate cannot be
 * read.
 */
async function listenTls(
  { config, telemetry }: Parts,
  listen: ListenMqtt,
  closers: (() => unknown)[],
): Promise<void> {
  const { host, mqttTlsPort: port, mqttTls: files } = config;
  if (files === undefined) return;
  const certificate = readCertificate(files);
  if (port === 0) return;
  const { close, renew } = await listen({ host, port }, certificate);
  const followed = { what: 'MQTT', files, inUse: certificate, renew };
  closers.push(close, followCertificate(followed, telemetry));
}
