// Google Cloud Pub/Sub: one message per delivery (contract 9).
import { connectorType } from '../connector-type.ts';
import { createLazyTarget } from '../target.ts';
import { gcpPubSubProperties, parseGcpPubSub } from './gcp-pub-sub-properties.ts';

export const gcpPubSub = connectorType({
  vendorName: 'GCP',
  propertiesKey: 'gcpProperties',
  properties: gcpPubSubProperties,
  secrets: ['serviceAccountKey'],
  parse: parseGcpPubSub,
  check({ endpoint, serviceAccountKey }, checks, { gcpServiceAccountKey }) {
    if (endpoint !== null) checks.url('endpoint', endpoint);
    if (serviceAccountKey === null && gcpServiceAccountKey === undefined) {
      const reason = 'is required because the operator has not set GCP_SERVICE_ACCOUNT_KEY';
      checks.refuse('serviceAccountKey', reason);
    }
  },
  open: (properties, services) =>
    createLazyTarget(async () => {
      const { createPubSubTarget } = await import('./gcp-pub-sub-sender.ts');
      return createPubSubTarget(properties, services);
    }),
});
