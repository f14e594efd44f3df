// Output to Azure Event Hubs: one event a delivery over HTTPS, authorised by a shared access signature.
import { createHmac } from 'node:crypto';
import { type EventHub, eventHub } from '../target-address.ts';
import type { AzureProperties } from '../../model/target-properties.ts';
import type { EpochMs } from '../../model/instant.ts';
import type { OutboundConnector, OutboundMessage } from '../target.ts';
import type { HttpCall } from '../http-answer.ts';
import { attemptHttp } from '../http-outcome.ts';

const signatureSeconds = 600;

export const azureConnector: OutboundConnector = {
  type: 'AZURE',
  check(properties, egress) {
    egress.checkUrl(
      `https://${hubOf(properties as unknown as AzureProperties).host}/`,
      'azureProperties.connectionString',
    );
  },
  open(properties, egress, now) {
    const hub = hubOf(properties as unknown as AzureProperties);
    return {
      send: (message, signal) => attemptHttp(egress, sendEvent(hub, message, now()), signal, now),
      close: () => Promise.resolve(),
    };
  },
};

function hubOf({ connectionString }: AzureProperties): EventHub {
  const hub = eventHub(connectionString);
  if (hub === undefined) throw new Error('a stored connection string cannot be read');
  return hub;
}

/** Events of a device share a partition key, so that their order is kept. */
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
