// Amazon Kinesis Data Streams: one record per delivery (contract 9).
import { connectorType } from '../connector-type.ts';
import type { OutboundMessage, Target } from '../target.ts';
import { anyText, optionalText, type PropertyReader, text } from '../properties.ts';
import type { EpochMs } from '../../../model/instant.ts';
import type { HttpCall } from '../../egress/http-exchange.ts';
import type { ConnectorServices } from '../connector-services.ts';
import { attemptHttp } from '../http-answer.ts';

// Kinesis stream: the region and the endpoint out of its ARN.

interface KinesisStream {
  readonly arn: string;
  readonly region: string;
  /** The public endpoint of the region. */
  readonly endpoint: string;
}

const arnForm =
  /^arn:(?<partition>aws[a-z-]*):kinesis:(?<region>[a-z0-9-]{1,40}):\d{12}:stream\/[A-Za-z0-9_.-]{1,128}$/;

const domains: Readonly<Record<string, string>> = { 'aws-cn': 'amazonaws.com.cn' };

/** Reads `arn:aws:kinesis:<region>:<account>:stream/<name>`; undefined for anything else. */
export function kinesisStream(arn: string): KinesisStream | undefined {
  const { partition, region } = arnForm.exec(arn)?.groups ?? {};
  if (partition === undefined || region === undefined) return undefined;
  const domain = domains[partition] ?? 'amazonaws.com';
  return { arn, region, endpoint: `https://kinesis.${region}.${domain}` };
}

type AmazonKinesisProperties = {
  readonly iamAccessKeyId: string;
  readonly iamSecretAccessKey: string;
  /** `arn:aws:kinesis:<region>:<account>:stream/<name>`. */
  readonly kinesisArn: string;
  /** A private endpoint; null for the public one of the region. */
  readonly endpoint: string | null;
};

const amazonKinesisProperties = {
  iamAccessKeyId: anyText,
  kinesisArn: text('ARN of the stream: `arn:aws:kinesis:region:account:stream/name`.'),
  iamSecretAccessKey: text('AWS secret access key. Secret.'),
  endpoint: optionalText('Endpoint URL of a private deployment. Defaults to the public service.'),
};

function parseAmazonKinesis(
  sent: PropertyReader<keyof AmazonKinesisProperties>,
): AmazonKinesisProperties {
  const iamAccessKeyId = sent.needed('iamAccessKeyId');
  if (!/^\w{16,128}$/.test(iamAccessKeyId))
    sent.refuse('iamAccessKeyId', 'must be an AWS access key ID');
  const kinesisArn = sent.needed('kinesisArn');
  if (kinesisStream(kinesisArn) === undefined)
    sent.refuse('kinesisArn', 'must be arn:aws:kinesis:region:account:stream/name');
  const iamSecretAccessKey = sent.needed('iamSecretAccessKey');
  return { iamAccessKeyId, iamSecretAccessKey, kinesisArn, endpoint: sent.text('endpoint') };
}

export const amazonKinesis = connectorType({
  vendorName: 'AMAZON_KINESIS',
  propertiesKey: 'amazonKinesisProperties',
  properties: amazonKinesisProperties,
  secrets: ['iamSecretAccessKey'],
  parse: parseAmazonKinesis,
  check({ endpoint }, checks) {
    if (endpoint !== null) checks.url('endpoint', endpoint);
  },
  open: (properties, services) => createKinesisTarget(properties, services),
});

// A delivery: PutRecord over HTTPS, signed with Signature Version 4.

/**
 * Rejections with status 400 that are temporary: the stream or its key is used too much or busy.
 */
const temporary =
  /ProvisionedThroughputExceeded|LimitExceeded|Throttling|KMSThrottling|ServiceUnavailable|InternalFailure|RequestExpired/;

function createKinesisTarget(
  properties: AmazonKinesisProperties,
  { egress, now }: ConnectorServices,
): Target {
  const isTemporary = (text: string) => temporary.test(text);
  return {
    async send(message, signal) {
      const call = await putRecord(properties, message, now());
      return attemptHttp({ egress, now, signal, isTemporary }, call);
    },
    close: async () => {},
  };
}

/** The signed request. Records of a device share a partition key, which keeps their order. */
async function putRecord(
  settings: AmazonKinesisProperties,
  message: OutboundMessage,
  now: EpochMs,
): Promise<HttpCall> {
  const stream = kinesisStream(settings.kinesisArn);
  if (stream === undefined) throw new Error('The stored stream name is invalid');
  const url = new URL(settings.endpoint ?? stream.endpoint);
  const body = JSON.stringify({
    StreamARN: stream.arn,
    PartitionKey: message.deviceId,
    Data: Buffer.from(message.payload).toString('base64'),
  });
  const { sign } = await import('aws4');
  const signed = sign(
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
