// The Things Stack: webhooks, the application server's downlink queue, and the four registries of an end device.
import { isJsonObject, type JsonObject } from '../../../model/json.ts';
import { problem } from '../../../model/problem.ts';
import {
  frameEvent,
  joinEvent,
  known,
  placeAt,
  receivedBy,
  type Reception,
} from '../lora-frame.ts';
import type {
  DownlinkApi,
  NetworkServer,
  RegistrationApi,
  ServerCall,
  ServerDevice,
  ServerEvent,
  ServerProperties,
} from '../network-server.ts';
import {
  base64At,
  countAt,
  euiAt,
  measureAt,
  nonEmpty,
  objectAt,
  objectsAt,
  percentAt,
  refuse,
  textAt,
  timeAt,
  valueAt,
} from '../webhook-fields.ts';

/** Our id travels with a downlink as one of its correlation ids. */
const correlationPrefix = 'heliograph:downlink:';

const downlinkStates = {
  downlink_queued: 'QUEUED',
  downlink_sent: 'SENT',
  downlink_ack: 'ACKNOWLEDGED',
  downlink_nack: 'FAILED',
  downlink_failed: 'FAILED',
} as const;

function read(body: JsonObject): readonly ServerEvent[] {
  const deviceEui = euiAt(body, 'end_device_ids.dev_eui');
  if (valueAt(body, 'uplink_message') !== undefined) return [uplink(body, deviceEui)];
  if (valueAt(body, 'join_accept') !== undefined) {
    return [joinEvent(deviceEui, textAt(body, 'end_device_ids.dev_addr'))];
  }
  // A copy of the uplink message, which is decoded when it arrives itself.
  if (valueAt(body, 'uplink_normalized') !== undefined) return [normalizedNote(deviceEui)];
  for (const [member, state] of Object.entries(downlinkStates)) {
    const told = objectAt(body, member);
    if (told !== undefined) return [downlinkEvent(body, deviceEui, state, member, told)];
  }
  if (valueAt(body, 'location_solved') !== undefined || valueAt(body, 'service_data') !== undefined)
    return [];
  if (valueAt(body, 'downlink_queue_invalidated') !== undefined) {
    return [
      {
        kind: 'note',
        deviceEui,
        level: 'WARN',
        message: 'The network server cleared its downlink queue',
      },
    ];
  }
  return refuse(
    'uplink_message',
    'is required, or another The Things Stack message such as join_accept or downlink_ack',
  );
}

function normalizedNote(deviceEui: string): ServerEvent {
  const message =
    'A normalized payload was received and is not decoded: let the network server send uplink messages';
  return { kind: 'note', deviceEui, level: 'INFO', message };
}

function uplink(body: JsonObject, deviceEui: string): ServerEvent {
  const message = objectAt(body, 'uplink_message') ?? {};
  const gateways = objectsAt(message, 'rx_metadata');
  const serverDeviceId = textAt(body, 'end_device_ids.device_id');
  const event = frameEvent({
    deviceEui,
    port: countAt(message, 'f_port', 255),
    payloadHex: base64At(message, 'frm_payload'),
    // The server omits members that are zero.
    frameCountUp: countAt(message, 'f_cnt') ?? 0,
    session: textAt(message, 'session_key_id') ?? textAt(body, 'end_device_ids.dev_addr'),
    metrics: {
      ...receivedBy(gateways.map(reception)),
      ...deviceLocation(message),
      ...known({
        sf: measureAt(message, 'settings.data_rate.lora.spreading_factor'),
        batteryLevel: percentAt(message, 'last_battery_percentage.value'),
      }),
    },
    time: timeAt(message, 'received_at') ?? timeAt(body, 'received_at'),
  });
  if (event.kind !== 'uplink') return event;
  const isNamed = serverDeviceId !== undefined && serverDeviceId !== `eui-${deviceEui}`;
  return { ...event, ...(isNamed && { serverDeviceId }) };
}

function reception(gateway: JsonObject): Reception {
  return {
    rssi: measureAt(gateway, 'rssi') ?? measureAt(gateway, 'channel_rssi'),
    snr: measureAt(gateway, 'snr'),
    latitude: measureAt(gateway, 'location.latitude'),
    longitude: measureAt(gateway, 'location.longitude'),
  };
}

/** The position that the device reports, or was set to, has precedence over that of a gateway. */
function deviceLocation(message: JsonObject) {
  const locations = valueAt(message, 'locations');
  if (!isJsonObject(locations)) return {};
  const location = locations['frm-payload'] ?? Object.values(locations)[0] ?? {};
  return placeAt(location, 'latitude', 'longitude', 'accuracy');
}

function downlinkEvent(
  body: JsonObject,
  deviceEui: string,
  state: (typeof downlinkStates)[keyof typeof downlinkStates],
  member: string,
  report: JsonObject,
): ServerEvent {
  const downlink = objectAt(report, 'downlink') ?? report;
  const ids = [valueAt(downlink, 'correlation_ids'), valueAt(body, 'correlation_ids')].flat();
  const own = ids.find((id) => typeof id === 'string' && id.startsWith(correlationPrefix)) as
    | string
    | undefined;
  let reason = textAt(report, 'error.message_format');
  if (member === 'downlink_nack') reason = 'the device did not acknowledge it';
  return {
    kind: 'downlink',
    deviceEui,
    state,
    ...(own !== undefined && { downlinkId: own.slice(correlationPrefix.length) }),
    ...(state === 'FAILED' && { reason: reason ?? 'the network server could not send it' }),
  };
}

/** Its id at the server. The server's console builds ids from EUIs in this form. */
function endDeviceId({ deviceEui, loraProperties }: ServerDevice): string {
  const given = valueAt(loraProperties, 'ttnProperties.deviceId');
  return nonEmpty(given) ?? `eui-${deviceEui}`;
}

const encoded = encodeURIComponent;

function authorized({ apiKey }: ServerProperties) {
  return { authorization: `Bearer ${apiKey}` };
}

const downlinks: DownlinkApi = {
  needs: ['baseUrl', 'apiKey', 'applicationId'],
  calls(downlink, device, properties) {
    const { baseUrl, applicationId = '' } = properties;
    const path = `as/applications/${encoded(applicationId)}/devices/${encoded(endDeviceId(device))}`;
    const message = {
      frm_payload: Buffer.from(downlink.payloadHex, 'hex').toString('base64'),
      f_port: downlink.port,
      confirmed: downlink.confirmed,
      priority: 'NORMAL',
      correlation_ids: [`${correlationPrefix}${downlink.id}`],
    };
    return [
      {
        method: 'POST',
        url: `${baseUrl}/api/v3/${path}/down/${downlink.replaces ? 'replace' : 'push'}`,
        headers: authorized(properties),
        body: { downlinks: [message] },
      },
    ];
  },
};

function keyOf(device: ServerDevice, name: string): string | undefined {
  return nonEmpty(valueAt(device.loraProperties, name));
}

function register(device: ServerDevice, properties: ServerProperties): readonly ServerCall[] {
  const { baseUrl = '', applicationId = '' } = properties;
  const joinEui = keyOf(device, 'joinEui') ?? keyOf(device, 'applicationEui');
  const appKey = keyOf(device, 'applicationKey');
  if (joinEui === undefined || appKey === undefined) {
    throw problem('registrationIncomplete', {
      deviceEui: device.deviceEui,
      missing: 'joinEui and applicationKey',
    });
  }
  const ids = { device_id: endDeviceId(device), dev_eui: device.deviceEui, join_eui: joinEui };
  const host = new URL(baseUrl).host;
  const servers = {
    network_server_address: host,
    application_server_address: host,
    join_server_address: host,
  };
  const frequencyPlan =
    keyOf(device, 'ttnProperties.frequencyPlan') ??
    properties['frequencyPlanId'] ??
    'EU_863_870_TTN';
  const version = { lorawan_version: 'MAC_V1_0_3', lorawan_phy_version: 'PHY_V1_0_3_REV_A' };
  const network = { supports_join: true, frequency_plan_id: frequencyPlan, ...version };
  const own = `applications/${encoded(applicationId)}/devices`;
  const put = (registry: string, fields: JsonObject, paths: readonly string[]): ServerCall => ({
    method: 'PUT',
    url: `${baseUrl}/api/v3/${registry}/${own}/${encoded(ids.device_id)}`,
    headers: authorized(properties),
    body: { end_device: { ids, ...fields }, field_mask: { paths } },
  });
  return [
    {
      method: 'POST',
      url: `${baseUrl}/api/v3/${own}`,
      headers: authorized(properties),
      body: {
        end_device: { ids, name: device.name.slice(0, 50), ...servers },
        field_mask: { paths: ['name', ...Object.keys(servers)] },
      },
      alsoAccepted: [409],
    },
    put('js', { ...servers, root_keys: { app_key: { key: appKey } } }, [
      ...Object.keys(servers),
      'root_keys.app_key.key',
    ]),
    put('ns', network, Object.keys(network)),
    put('as', {}, ['ids.dev_eui', 'ids.join_eui']),
  ];
}

const registration: RegistrationApi = {
  needs: ['baseUrl', 'apiKey', 'applicationId'],
  register,
  deregister(device, properties) {
    const { baseUrl, applicationId = '' } = properties;
    const own = `applications/${encoded(applicationId)}/devices/${encoded(endDeviceId(device))}`;
    // The registry with the identity is last, so that an interrupted deletion can be repeated.
    return ['as/', 'ns/', 'js/', ''].map((registry) => ({
      method: 'DELETE' as const,
      url: `${baseUrl}/api/v3/${registry}${own}`,
      headers: authorized(properties),
      alsoAccepted: [404],
    }));
  },
};

export const theThingsStack: NetworkServer = { read, downlinks, registration };
