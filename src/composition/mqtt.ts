// Connects MQTT: logins, uplinks, messages to devices, configurations, revocation and the ports.
import type { Server } from 'node:http';
import { createAttempts } from '../access/sign-in-throttle.ts';
import { composeMqttPorts } from './mqtt-ports.ts';
import type { Parts } from './platform-parts.ts';
import type { Uplinks } from './uplinks.ts';
import { createConfigurationPush, pushOnConnect } from '../flows/configuration-push.ts';
import { handleMqttPayload } from '../flows/mqtt-uplink.ts';
import { parseJsonBody } from '../http/edge/json-body.ts';
import type { DuplicateFilter } from '../ingest/duplicate-filter.ts';
import { tokenAudiences } from '../ingest/mqtt/device-token.ts';
import type { MqttBroker } from '../ingest/mqtt/mqtt-broker.ts';
import type { BrokerParts } from '../ingest/mqtt/mqtt-broker-state.ts';
import { createBrokerOnDemand } from '../ingest/mqtt/mqtt-broker-on-demand.ts';
import { type LoginParts, logIn } from '../ingest/mqtt/mqtt-login.ts';
import { createMqttPublisher, type PublishToDevice } from '../ingest/mqtt/mqtt-publisher.ts';
import { type Retained, createRetainedMessages } from '../ingest/mqtt/mqtt-retained.ts';
import { createMqttRevocation } from '../ingest/mqtt/mqtt-revocation.ts';
import type { FindRoute } from '../ingest/mqtt/mqtt-route.ts';
import { takeUntilClose } from '../ingest/mqtt/mqtt-web-socket-count.ts';
import type { PushConfiguration } from '../inventory/devices/device-configurations.ts';
import type { UplinkRoute } from '../inventory/devices/uplink-route-cache.ts';
import { findDeviceConfiguration } from '../records/rows/device-configurations.ts';
import { findDeviceConnector } from '../records/rows/device-connectors.ts';
import {
  findDeviceCredentials,
  findDevicesWithCredentials,
} from '../records/rows/device-credentials.ts';
import { findDevice } from '../records/rows/devices.ts';
import { setTimer } from '../structures/timers.ts';

export interface Mqtt {
  readonly publishToDevice: PublishToDevice;
  /**
   * Adds a listener, which is called with the service device id when a client has subscribed for
   * the device.
   */
  readonly onDeviceConnected: (listener: (serviceDeviceId: string) => void) => void;
  readonly pushConfiguration: PushConfiguration;
  /** Opens the ports, and `/mqtt` of the server. */
  readonly listen: (server: Server) => Promise<void>;
  readonly close: () => Promise<void>;
}

export function composeMqtt(parts: Parts, uplinks: Uplinks, duplicates: DuplicateFilter): Mqtt {
  const { telemetry, now } = parts;
  const connected: ((serviceDeviceId: string) => void)[] = [];
  const retained = createRetainedMessages();
  const login = loginPartsOf(parts);
  const findRoute = findRouteIn(parts);
  const reachable: BrokerParts<UplinkRoute>['reachable'] = (session, subscription) => {
    for (const tell of connected) tell(subscription.id);
    pushOnConnect(session, subscription, {
      findRoute: (id) => parts.directory.byDevice(id),
      findLatest: (id) => findDeviceConfiguration(parts.records.db, id, 'latest'),
      sendTo: (...message) => broker.opened()?.deliveries.sendTo(...message),
    }).catch((error: unknown) => telemetry.backgroundFailed('pushing a configuration', error));
  };
  const brokerParts = brokerPartsOf(parts, { uplinks, duplicates, retained, login, reachable });
  const broker = createBrokerOnDemand(
    async () => {
      const { openMqttBroker } = await import('../ingest/mqtt/mqtt-broker.ts');
      return openMqttBroker(brokerParts);
    },
    (error) => telemetry.backgroundFailed('starting MQTT', error),
  );
  const publishToDevice = createMqttPublisher(broker.opened, retained);
  const revocation = createMqttRevocation({
    broker: broker.opened,
    login,
    findRoute,
    failed: (error) => telemetry.backgroundFailed('ending MQTT connections', error),
  });
  parts.followChanges({
    recordChanged(change) {
      revocation.recordChanged(change);
      if (change.kind === 'device' && change.action === 'deleted') retained.forget(change.id);
    },
    changesMissed: revocation.changesMissed,
  });
  addGauges(parts, broker.opened);
  const tick = () => {
    revocation.endExpired(now());
    broker.opened()?.store.dropOld();
  };
  return {
    publishToDevice,
    onDeviceConnected: (listener) => void connected.push(listener),
    pushConfiguration: createConfigurationPush(publishToDevice),
    ...composeMqttPorts(parts, broker, tick),
  };
}

interface BrokerSources {
  readonly uplinks: Uplinks;
  readonly duplicates: DuplicateFilter;
  readonly retained: Retained;
  readonly login: LoginParts;
  readonly reachable: BrokerParts<UplinkRoute>['reachable'];
}

function brokerPartsOf(
  parts: Parts,
  { uplinks, duplicates, retained, login, reachable }: BrokerSources,
): BrokerParts<UplinkRoute> {
  const { telemetry, now, newId, openCounts } = parts;
  const { mqttRepeated: repeated } = telemetry;
  const { handleUplink, appendEntry } = uplinks;
  const from = { handleUplink, appendEntry, duplicates, repeated, newId, now };
  const guesses = createAttempts(now);
  return {
    findRoute: findRouteIn(parts),
    store: (route, payload) =>
      handleMqttPayload(route, payload, { ...from, parseJson: parseJsonBody }),
    retained,
    logIn: (address, credential) =>
      guesses.run(
        { ip: address },
        () => logIn(credential, login),
        (outcome) => 'refused' in outcome,
      ),
    countWebSocket: (organizationId, conn) =>
      takeUntilClose(openCounts.webSockets, organizationId, conn),
    reachable,
    doubt: duplicates.doubt,
    refused: telemetry.mqttRefused,
    ended: telemetry.mqttEnded,
    now,
    setTimer,
  };
}

function loginPartsOf({ config, address, directory, records, now }: Parts): LoginParts {
  return {
    knownConnector: directory.knownConnector,
    findConnector: (id) => findDeviceConnector(records, id),
    findDevices: (deviceId) => findDevicesWithCredentials(records, deviceId),
    findDevice: (id) => findDevice(records, id),
    findCredentials: (id) => findDeviceCredentials(records.db, id),
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

function addGauges({ telemetry }: Parts, broker: () => MqttBroker | undefined): void {
  telemetry.gauge('mqtt_connections', 'Open MQTT connections.', () => broker()?.sessions.size ?? 0);
  telemetry.gauge(
    'mqtt_publishes_under_way',
    'MQTT publishes that are not durable yet.',
    () => broker()?.flowControl.inFlight ?? 0,
  );
  telemetry.gauge(
    'mqtt_sessions_kept',
    'Sessions of MQTT clients that outlive their connection.',
    () => broker()?.store.size ?? 0,
  );
}
