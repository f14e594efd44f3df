// Send code: how a terminal or a device sends a reading over each protocol, with real ids and secret.
import { curlOf } from '../../api/curl.ts';
import type { Connectivity } from '../devices/register-requests.ts';

export interface Sender {
  readonly connectivity: Connectivity;
  /** Physical id. */
  readonly deviceId: string;
  readonly connectorId: string;
  readonly secret: string;
  /** The body of an uplink. */
  readonly payload: object;
}

export interface Installation {
  readonly origin: string;
  readonly hostname: string;
  /** Null: the protocol is off. */
  readonly mqttPort: number | null;
  readonly coapPort: number | null;
}

export type SendTool = 'curl' | 'Python' | 'Arduino' | 'mosquitto_pub' | 'coap-client';

const toolsOf: Readonly<Record<Connectivity, readonly SendTool[]>> = {
  HTTP: ['curl', 'Python', 'Arduino'],
  // The HTTP address takes payloads for every connector with a secret.
  MQTT: ['mosquitto_pub', 'Python', 'Arduino', 'curl'],
  COAP: ['coap-client', 'curl'],
};
const mqttPortDefault = 1883;
const coapPortDefault = 5683;

export function sendTools({ connectivity }: Sender): readonly SendTool[] {
  return toolsOf[connectivity];
}

export function sendCode(tool: SendTool, sender: Sender, at: Installation): string {
  if (tool === 'curl') return curlCommand(sender, at);
  if (tool === 'mosquitto_pub') return mosquittoCommand(sender, at);
  if (tool === 'coap-client') return coapCommand(sender, at);
  const isMqtt = sender.connectivity === 'MQTT';
  if (tool === 'Python') return isMqtt ? pythonMqtt(sender, at) : pythonHttp(sender, at);
  return isMqtt ? arduinoMqtt(sender, at) : arduinoHttp(sender, at);
}

const query = ({ secret, deviceId }: Sender) =>
  `secret=${encodeURIComponent(secret)}&deviceId=${encodeURIComponent(deviceId)}`;
const topicOf = ({ secret, deviceId }: Sender) => `/up/${secret}/id/${deviceId}`;
const bodyOf = ({ payload }: Sender) => JSON.stringify(payload);
/** A string of Python and of C++; JSON escapes as both do. */
const quoted = (text: string) => JSON.stringify(text);
/** Single quotes of a shell keep every character but themselves. */
const shellWord = (text: string) => `'${text.replaceAll("'", `'\\''`)}'`;

function curlCommand(sender: Sender, { origin }: Installation): string {
  const path = `/v3/capture?${query(sender)}`;
  const withKey = curlOf({ method: 'POST', path, body: sender.payload }, origin);
  // The secret in the address is the credential; an API key is not needed.
  return withKey.replace(` -H "x-api-key: $API_KEY"`, '').replaceAll(/ (-H|-d) /g, ' \\\n  $1 ');
}

function mosquittoCommand(sender: Sender, { hostname, mqttPort }: Installation): string {
  const port = (mqttPort ?? mqttPortDefault) === mqttPortDefault ? '' : ` -p ${mqttPort}`;
  return [
    `mosquitto_pub -h ${hostname}${port} -q 1`,
    `-u ${sender.connectorId} -P ${sender.secret}`,
    `-t ${shellWord(topicOf(sender))}`,
    `-m ${shellWord(bodyOf(sender))}`,
  ].join(' \\\n  ');
}

function coapCommand(sender: Sender, { hostname, coapPort }: Installation): string {
  const port = (coapPort ?? coapPortDefault) === coapPortDefault ? '' : `:${coapPort}`;
  return [
    'coap-client -m post -t 50',
    `-e ${shellWord(bodyOf(sender))}`,
    shellWord(`coap://${hostname}${port}/v3/capture?${query(sender)}`),
  ].join(' \\\n  ');
}

function pythonHttp(sender: Sender, { origin }: Installation): string {
  return `import urllib.request

request = urllib.request.Request(
    ${quoted(`${origin}/v3/capture?${query(sender)}`)},
    data=${quoted(bodyOf(sender))}.encode(),
    headers={"content-type": "application/json"},
)
print(urllib.request.urlopen(request).read().decode())`;
}

function pythonMqtt(sender: Sender, { hostname, mqttPort }: Installation): string {
  return `# pip install paho-mqtt
from paho.mqtt import publish

publish.single(
    ${quoted(topicOf(sender))},
    ${quoted(bodyOf(sender))},
    qos=1, hostname=${quoted(hostname)}, port=${mqttPort ?? mqttPortDefault},
    auth={"username": ${quoted(sender.connectorId)}, "password": ${quoted(sender.secret)}},
)`;
}

function arduinoHttp(sender: Sender, { origin }: Installation): string {
  return `// ESP32, once WiFi is connected
#include <HTTPClient.h>

void send() {
  HTTPClient http;
  http.begin(${quoted(`${origin}/v3/capture?${query(sender)}`)});
  http.addHeader("content-type", "application/json");
  http.POST(${quoted(bodyOf(sender))});
  http.end();
}`;
}

function arduinoMqtt(sender: Sender, { hostname, mqttPort }: Installation): string {
  return `// ESP32 with PubSubClient, once WiFi is connected
#include <PubSubClient.h>

void send(PubSubClient &mqtt) {
  mqtt.setServer(${quoted(hostname)}, ${mqttPort ?? mqttPortDefault});
  mqtt.connect(${quoted(sender.deviceId)}, ${quoted(sender.connectorId)}, ${quoted(sender.secret)});
  mqtt.publish(${quoted(topicOf(sender))}, ${quoted(bodyOf(sender))});
}`;
}
