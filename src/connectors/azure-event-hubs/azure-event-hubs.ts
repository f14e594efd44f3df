// Azure Event Hubs: one event per delivery over HTTPS, authorized by a shared access signature (contract 9).
import { createHmac } from 'node:crypto';
import type { EpochMs } from '../../model/instant.ts';
import { connectorType } from '../connector-type.ts';
import type { HttpCall } from '../http-answer.ts';
import { attemptHttp } from '../http-attempt.ts';
import { text } from '../property-schemas.ts';
import type { OutboundMessage } from '../target.ts';
import { type EventHub, eventHub } from './event-hub.ts';

const signatureSeconds = 600;

export const azureEventHubs = connectorType({
  vendorName: 'AZURE',
  propertiesKey: 'azureProperties',
  properties: {
    connectionString: text(
      'Of an Event Hub: Endpoint=sb://host/;SharedAccessKeyName=name;SharedAccessKey=key;EntityPath=hub; a secret',
    ),
  },
  secrets: ['connectionString'],
  parse(sent) {
    const connectionString = sent.needed('connectionString');
    if (eventHub(connectionString) === undefined) {
      const form =
        'Endpoint=sb://host/;SharedAccessKeyName=name;SharedAccessKey=key;EntityPath=hub';
      sent.refuse('connectionString', `must be that of an Event Hub: ${form}`);
    }
    return { connectionString };
  },
  check({ connectionString }, checks) {
    checks.url('connectionString', `https://${storedHub(connectionString).host}/`);
  },
  open({ connectionString }, { egress, now }) {
    const hub = storedHub(connectionString);
    return {
      send: (message, signal) =>
        attemptHttp({ egress, now, signal }, sendEvent(hub, message, now())),
      close: async () => {},
    };
  },
});

function storedHub(connectionString: string): EventHub {
  const hub = eventHub(connectionString);
  if (hub === undefined) throw new Error('The stored connection string is not valid');
  return hub;
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
