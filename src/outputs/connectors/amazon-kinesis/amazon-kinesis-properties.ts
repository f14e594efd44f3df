// Amazon Kinesis properties: schemas and parser (contract 9).
import type { PropertyReader } from '../property-parser.ts';
import { anyText, optionalText, text } from '../property-schemas.ts';

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

export type AmazonKinesisProperties = {
  readonly iamAccessKeyId: string;
  readonly iamSecretAccessKey: string;
  /** `arn:aws:kinesis:<region>:<account>:stream/<name>`. */
  readonly kinesisArn: string;
  /** A private endpoint; null for the public one of the region. */
  readonly endpoint: string | null;
};

export const amazonKinesisProperties = {
  iamAccessKeyId: anyText,
  kinesisArn: text('ARN of the stream: `arn:aws:kinesis:region:account:stream/name`.'),
  iamSecretAccessKey: text('AWS secret access key. Secret.'),
  endpoint: optionalText('Endpoint URL of a private deployment. Defaults to the public service.'),
};

export function parseAmazonKinesis(
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
