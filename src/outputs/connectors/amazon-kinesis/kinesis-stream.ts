// Kinesis stream: the region and the endpoint out of its ARN.

export interface KinesisStream {
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
