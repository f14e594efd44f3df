// Sender of Azure Event Hubs connectors: one signed request per event (contract 9).
import { createHmac } from 'node:crypto';
import type { EpochMs } from '../../../model/instant.ts';
import type { ConnectorServices } from '../connector-services.ts';
import type { HttpCall } from '../../egress/http-exchange.ts';
import { attemptHttp } from '../http-answer.ts';
import type { OutboundMessage, Target } from '../target.ts';
import type { EventHub } from './event-hub.ts';

const signatureSeconds = 600;

export function createEventHubTarget(hub: EventHub, { egress, now }: ConnectorServices): Target {
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
