// Sender to Amazon Kinesis Data Streams: PutRecord over HTTPS, signed with Signature Version 4.
import aws4 from 'aws4';
import type { EpochMs } from '../../../model/instant.ts';
import type { HttpCall } from '../../egress/http-exchange.ts';
import type { ConnectorServices } from '../connector-services.ts';
import { attemptHttp } from '../http-answer.ts';
import type { OutboundMessage, Target } from '../target.ts';
import { type AmazonKinesisProperties, kinesisStream } from './amazon-kinesis-properties.ts';

/**
 * Rejections with status 400 that are temporary: the stream or its key is used too much or busy.
 */
const temporary =
  /ProvisionedThroughputExceeded|LimitExceeded|Throttling|KMSThrottling|ServiceUnavailable|InternalFailure|RequestExpired/;

export function createKinesisTarget(
  properties: AmazonKinesisProperties,
  { egress, now }: ConnectorServices,
): Target {
  const isTemporary = (text: string) => temporary.test(text);
  return {
    send: (message, signal) =>
      attemptHttp({ egress, now, signal, isTemporary }, putRecord(properties, message, now())),
    close: async () => {},
  };
}

/** The signed request. Records of a device share a partition key, which keeps their order. */
function putRecord(
  settings: AmazonKinesisProperties,
  message: OutboundMessage,
  now: EpochMs,
): HttpCall {
  const stream = kinesisStream(settings.kinesisArn);
  if (stream === undefined) throw new Error('The stored stream name is invalid');
  const url = new URL(settings.endpoint ?? stream.endpoint);
  const body = JSON.stringify({
    StreamARN: stream.arn,
    PartitionKey: message.deviceId,
    Data: Buffer.from(message.payload).toString('base64'),
  });
  const signed = aws4.sign(
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
  // The HTTP client sets host and length itself, to the same values.
  const {
    Host: _,
    'Content-Length': __,
    ...headers
  } = signed.headers as Readonly<Record<string, string>>;
  return { method: 'POST', url: url.href, headers, body };
}
