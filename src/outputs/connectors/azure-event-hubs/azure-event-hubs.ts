// Azure Event Hubs: one event per delivery over HTTPS, authorized by a shared access signature (contract 9).
import { createHmac } from 'node:crypto';
import { connectorType } from '../connector-type.ts';
import type { OutboundMessage, Target } from '../target.ts';
import { text } from '../properties.ts';
import { targetUri } from '../target-uri.ts';
import type { EpochMs } from '../../../model/instant.ts';
import type { ConnectorServices } from '../connector-services.ts';
import type { HttpCall } from '../../egress/http-exchange.ts';
import { attemptHttp } from '../http-answer.ts';

export const azureEventHubs = connectorType({
  vendorName: 'AZURE',
  propertiesKey: 'azureProperties',
  properties: {
    connectionString: text(
      'Connection string of an Event Hub: `Endpoint=sb://host/;SharedAccessKeyName=name;SharedAccessKey=key;EntityPath=hub`. Secret.',
    ),
  },
  secrets: ['connectionString'],
  parse(sent) {
    const connectionString = sent.needed('connectionString');
    if (eventHub(connectionString) === undefined) {
      const form =
        'Endpoint=sb://host/;SharedAccessKeyName=name;SharedAccessKey=key;EntityPath=hub';
      sent.refuse('connectionString', `must be an Event Hub connection string: ${form}`);
    }
    return { connectionString };
  },
  check({ connectionString }, checks) {
    checks.url('connectionString', `https://${storedHub(connectionString).host}/`);
  },
  open: ({ connectionString }, services) =>
    createEventHubTarget(storedHub(connectionString), services),
});

function storedHub(connectionString: string): EventHub {
  const hub = eventHub(connectionString);
  if (hub === undefined) throw new Error('The stored connection string is invalid');
  return hub;
}

// Event Hub: host, name and key out of a connection string.

interface EventHub {
  readonly host: string;
  readonly hub: string;
  readonly keyName: string;
  readonly key: string;
}

const httpsPort = 443;

/** Reads the connection string of an Event Hub; undefined when a part is missing. */
export function eventHub(connectionString: string): EventHub | undefined {
  const parts = new Map(connectionString.split(';').map(namedPart));
  const endpoint = targetUri(parts.get('endpoint') ?? '', { sb: httpsPort });
  const hub = parts.get('entitypath');
  const keyName = parts.get('sharedaccesskeyname');
  const key = parts.get('sharedaccesskey');
  if (endpoint === undefined || endpoint.path !== '' || !hub || !keyName || !key) return undefined;
  return { host: authorityOf(endpoint), hub, keyName, key };
}

function namedPart(part: string): readonly [name: string, value: string] {
  const end = part.indexOf('=');
  return [part.slice(0, end).trim().toLowerCase(), part.slice(end + 1).trim()];
}

function authorityOf({ host, port }: { readonly host: string; readonly port: number }): string {
  const name = host.replace(/^(.*:.*)$/, '[$1]');
  if (port === httpsPort) return name;
  return `${name}:${port}`;
}

// A delivery: one signed request per event.

const signatureSeconds = 600;

function createEventHubTarget(hub: EventHub, { egress, now }: ConnectorServices): Target {
  return {
    send: (message, signal) => attemptHttp({ egress, now, signal }, sendEvent(hub, message, now())),
    close: async () => {},
  };
}

/** Events of a device share a partition key, which keeps their order. */
function sendEvent(hub: EventHub, message: OutboundMessage, now: EpochMs): HttpCall {
  const resource = `https://${hub.host}/${encodeURIComponent(hub.hub)}`;
  return {
    method: 'POST',
    url: `${resource}/messages?api-version=2014-01`,
    headers: {
      authorization: sharedAccessSignature(hub, resource, now),
      'content-type': message.contentType,
      brokerproperties: JSON.stringify({ PartitionKey: message.deviceId }),
      deliveryid: JSON.stringify(message.deliveryId),
    },
    body: message.payload,
  };
}

function sharedAccessSignature({ keyName, key }: EventHub, resource: string, now: EpochMs): string {
  const uri = encodeURIComponent(resource.toLowerCase());
  const expires = Math.floor(now / 1_000) + signatureSeconds;
  const signature = createHmac('sha256', key).update(`${uri}\n${expires}`).digest('base64');
  const parts = [
    `sr=${uri}`,
    `sig=${encodeURIComponent(signature)}`,
    `se=${expires}`,
    `skn=${encodeURIComponent(keyName)}`,
  ];
  return `SharedAccessSignature ${parts.join('&')}`;
}
