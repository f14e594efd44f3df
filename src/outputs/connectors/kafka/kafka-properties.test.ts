// Kafka endpoints: bootstrap servers in valid and invalid forms.
import { expect, test } from 'vitest';
import { kafkaEndpoints } from './kafka.ts';

test('brokers are read from a list, with the usual port', () => {
  expect(kafkaEndpoints('a.example.com:1, b.example.com')).toEqual([
    { host: 'a.example.com', port: 1 },
    { host: 'b.example.com', port: 9092 },
  ]);
  for (const text of ['', 'a,,b', 'a:1,b/c', 'a:1;b:2'])
    expect(kafkaEndpoints(text), text).toBeUndefined();
});
