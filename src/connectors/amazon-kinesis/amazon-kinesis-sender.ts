// Output to Amazon Kinesis Data Streams: PutRecord over HTTPS, signed with Signature Version 4.
import { createRequire } from 'node:module';
import type * as Aws4 from 'aws4';
import { kinesisStream } from '../target-address.ts';
import type { AmazonKinesisProperties } from '../../model/target-properties.ts';
import type { EpochMs } from '../../model/instant.ts';
import type { OutboundConnector, OutboundMessage } from '../target.ts';
import type { HttpCall } from '../http-answer.ts';
import { attemptHttp } from '../http-outcome.ts';

const require = createRequire(import.meta.url);

/** The package is CommonJS, and Node finds no names in it that an import could take; it is loaded with the first delivery. */
const signer = () => require('aws4') as typeof Aws4;

/** Refusals that pass, although their status is 400: the stream or its key are asked too much, or busy. */
const passing =
  /ProvisionedThroughputExceeded|LimitExceeded|Throttling|KMSThrottling|ServiceUnavailable|InternalFailure|RequestExpired/;

export const amazonKinesisConnector: OutboundConnector = {
  type: 'AMAZON_KINESIS',
  check({ endpoint }, egress) {
    if (typeof endpoint === 'string') egress.checkUrl(endpoint, 'amazonKinesisProperties.endpoint');
  },
  open(properties, egress, now) {
    const settings = properties as unknown as AmazonKinesisProperties;
    return {
      send: (message, signal) =>
        attemptHttp(egress, putRecord(settings, message, now()), signal, now, (text) =>
          passing.test(text),
        ),
      close: () => Promise.resolve(),
    };
  },
};

/** The signed request; records of a device share a partition key, so that their order is kept. */
function putRecord(
  settings: AmazonKinesisProperties,
  message: OutboundMessage,
  now: EpochMs,
): HttpCall {
  const stream = kinesisStream(settings.kinesisArn);
  if (stream === undefined) throw new Error('a stored stream name cannot be read');
  const url = new URL(settings.endpoint ?? stream.endpoint);
  const body = JSON.stringify({
    StreamARN: stream.arn,
    PartitionKey: message.deviceId,
    Data: Buffer.from(message.payload).toString('base64'),
  });
  const signed = signer().sign(
    {
      service: 'kinesis',
      region: stream.region,
      method: 'POST',
      path: url.pathname,
      headers: {
        Host: url.host,
        'Content-Type': 'application/x-amz-json-1.1',
        'X-Amz-Target': 'Kinesis_20131202.PutRecord',
        'X-Amz-Date': new Date(now).toISOString().replaceAll(/[:-]|\.\d{3}/g, ''),
      },
      body,
    },
    { accessKeyId: settings.iamAccessKeyId, secretAccessKey: settings.iamSecretAccessKey },
  );
  // The client sets host and length by itself, to the same values.
  const {
    Host: _,
    'Content-Length': __,
    ...headers
  } = signed.headers as Readonly<Record<string, string>>;
  return { method: 'POST', url: url.href, headers, body };
}
