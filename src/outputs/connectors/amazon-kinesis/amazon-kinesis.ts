// Amazon Kinesis Data Streams: one record per delivery (contract 9).
import { connectorType } from '../connector-type.ts';
import { createLazyTarget } from '../target.ts';
import { amazonKinesisProperties, parseAmazonKinesis } from './amazon-kinesis-properties.ts';

export const amazonKinesis = connectorType({
  vendorName: 'AMAZON_KINESIS',
  propertiesKey: 'amazonKinesisProperties',
  properties: amazonKinesisProperties,
  secrets: ['iamSecretAccessKey'],
  parse: parseAmazonKinesis,
  check({ endpoint }, checks) {
    if (endpoint !== null) checks.url('endpoint', endpoint);
  },
  open: (properties, services) =>
    createLazyTarget(async () => {
      const { createKinesisTarget } = await import('./amazon-kinesis-sender.ts');
      return createKinesisTarget(properties, services);
    }),
});
