// Azure Event Hubs: one event per delivery over HTTPS, authorized by a shared access signature (contract 9).
import { connectorType } from '../connector-type.ts';
import { createLazyTarget } from '../target.ts';
import { text } from '../property-schemas.ts';
import { type EventHub, eventHub } from './event-hub.ts';

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
  open: ({ connectionString }, services) => {
    const hub = storedHub(connectionString);
    return createLazyTarget(async () => {
      const { createEventHubTarget } = await import('./azure-event-hubs-sender.ts');
      return createEventHubTarget(hub, services);
    });
  },
});

function storedHub(connectionString: string): EventHub {
  const hub = eventHub(connectionString);
  if (hub === undefined) throw new Error('The stored connection string is invalid');
  return hub;
}
