// Addresses of targets: what is read from each form, and what is refused.
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  eventHub,
  kafkaBrokers,
  kinesisStream,
  mqttPorts,
  serviceAccount,
  sqlAddress,
  targetUri,
} from './target-address.ts';

describe('URIs of targets', () => {
  for (const [text, expected] of [
    [
      'mqtt://broker.example.com',
      { scheme: 'mqtt', host: 'broker.example.com', port: 1883, path: '' },
    ],
    [
      'mqtts://broker.example.com',
      { scheme: 'mqtts', host: 'broker.example.com', port: 8883, path: '' },
    ],
    ['mqtt://10.0.0.1:99/a%2Fb', { scheme: 'mqtt', host: '10.0.0.1', port: 99, path: 'a/b' }],
    ['mqtt://[2001:db8::1]:1883', { scheme: 'mqtt', host: '2001:db8::1', port: 1883, path: '' }],
    ['http://broker.example.com', undefined],
    ['mqtt://user:pass@broker.example.com', undefined],
    ['mqtt://broker.example.com?tls=false', undefined],
    ['mqtt://broker.example.com#a', undefined],
    ['mqtt://', undefined],
    ['mqtt:broker', undefined],
    ['mqtt://a b', undefined],
    ['mqtt://a,b', undefined],
    ['mqtt://%31%32%37.0.0.1', undefined],
    ['mqtt://broker:70000', undefined],
    ['mqtt://broker/%zz', undefined],
    ['', undefined],
  ] as const) {
    test(`${text} is ${expected === undefined ? 'refused' : 'read'}`, () => {
      expect(targetUri(text, mqttPorts)).toEqual(expected);
    });
  }

  test('no text makes a reader fail', () => {
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.webUrl(), fc.json()), (text) => {
        for (const read of [
          (each: string) => targetUri(each, mqttPorts),
          sqlAddress,
          kafkaBrokers,
          eventHub,
          kinesisStream,
          serviceAccount,
        ]) {
          expect(() => read(text)).not.toThrow();
        }
      }),
      { numRuns: 500 },
    );
  });
});

describe('other addresses', () => {
  for (const [text, expected] of [
    [
      'jdbc:postgresql://db.example.com/samples',
      { dialect: 'postgresql', host: 'db.example.com', port: 5432, database: 'samples' },
    ],
    [
      'jdbc:mysql://db.example.com:3307/samples',
      { dialect: 'mysql', host: 'db.example.com', port: 3307, database: 'samples' },
    ],
    ['jdbc:mariadb://db.example.com/', undefined],
    ['jdbc:mariadb://db.example.com/a/b', undefined],
    ['postgresql://db.example.com/samples', undefined],
  ] as const) {
    test(`${text} is ${expected === undefined ? 'refused' : 'read'}`, () =>
      expect(sqlAddress(text)).toEqual(expected));
  }

  test('brokers are read from a list, with the usual port', () => {
    expect(kafkaBrokers('a.example.com:1, b.example.com')).toEqual([
      { host: 'a.example.com', port: 1 },
      { host: 'b.example.com', port: 9092 },
    ]);
    for (const text of ['', 'a,,b', 'a:1,b/c', 'a:1;b:2'])
      expect(kafkaBrokers(text), text).toBeUndefined();
  });

  test('a connection string is read whatever the order and case of its parts', () => {
    const text =
      'entitypath=hub;SharedAccessKey=a=b=;Endpoint=sb://ns.servicebus.windows.net/;SharedAccessKeyName=n';
    expect(eventHub(text)).toEqual({
      host: 'ns.servicebus.windows.net',
      hub: 'hub',
      keyName: 'n',
      key: 'a=b=',
    });
    expect(eventHub('Endpoint=sb://ns/;SharedAccessKeyName=n;SharedAccessKey=k')).toBeUndefined();
  });

  test('the endpoint of a stream is that of its region and partition', () => {
    expect(kinesisStream('arn:aws:kinesis:eu-west-1:123456789012:stream/s')?.endpoint).toBe(
      'https://kinesis.eu-west-1.amazonaws.com',
    );
    expect(kinesisStream('arn:aws-cn:kinesis:cn-north-1:123456789012:stream/s')?.endpoint).toBe(
      'https://kinesis.cn-north-1.amazonaws.com.cn',
    );
  });
});
