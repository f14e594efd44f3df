// First reading: the command of a terminal that sends one for a device over its own connection.
import { curlOf } from '../../../api/curl.ts';
import type { Device } from '../data/device-queries.ts';

const reading = { temperature: 21.5 };

type Sender = Pick<Device, 'connectivity' | 'deviceId'> & {
  readonly dataFlow: { readonly deviceConnector: { readonly id: string } };
};

/** A secret that the caller cannot read is the shell variable `SECRET`. */
export function firstReading(
  { connectivity, deviceId, dataFlow }: Sender,
  secret: string | undefined,
  { origin, hostname }: { readonly origin: string; readonly hostname: string },
): string {
  const known = secret ?? '$SECRET';
  const body = JSON.stringify(reading);
  if (connectivity === 'MQTT') {
    const user = dataFlow.deviceConnector.id;
    const topic = `/up/${known}/id/${deviceId}`;
    return `mosquitto_pub -h ${hostname} -u ${user} -P "${known}" -q 1 -t "${topic}" -m '${body}'`;
  }
  const query = `secret=${known}&deviceId=${encodeURIComponent(deviceId)}`;
  if (connectivity === 'COAP')
    return `coap-client -m post -t 50 -e '${body}' "coap://${hostname}/v3/capture?${query}"`;
  if (secret === undefined)
    return `curl -sS "${origin}/v3/capture?${query}" -H 'content-type: application/json' -d '${body}'`;
  // The secret in the address is the credential; an API key is not needed.
  const withKey = curlOf({ method: 'POST', path: `/v3/capture?${query}`, body: reading }, origin);
  return withKey.replace(` -H "x-api-key: $API_KEY"`, '');
}
