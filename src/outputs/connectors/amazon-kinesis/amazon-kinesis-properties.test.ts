// Streams of Kinesis: the endpoint by region and partition.
import { expect, test } from 'vitest';
import { kinesisStream } from './amazon-kinesis.ts';

test('the endpoint of a stream is that of its region and partition', () => {
  expect(kinesisStream('arn:aws:kinesis:eu-west-1:123456789012:stream/s')?.endpoint).toBe(
    'https://kinesis.eu-west-1.amazonaws.com',
  );
  expect(kinesisStream('arn:aws-cn:kinesis:cn-north-1:123456789012:stream/s')?.endpoint).toBe(
    'https://kinesis.cn-north-1.amazonaws.com.cn',
  );
});
