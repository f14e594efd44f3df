// Target URIs: what is read from each form, and what is rejected.
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { kinesisStream } from './amazon-kinesis/amazon-kinesis.ts';
import { eventHub } from './azure-event-hubs/azure-event-hubs.ts';
import { serviceAccount } from './gcp-pub-sub/gcp-pub-sub.ts';
import { kafkaEndpoints } from './kafka/kafka.ts';
import { sqlAddress } from './sql/sql.ts';
import { targetUri } from './target-uri.ts';

const mqttPorts = { mqtt: 1883, mqtts: 8883 };

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
          kafkaEndpoints,
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
