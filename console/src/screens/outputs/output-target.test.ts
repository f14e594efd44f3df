// Targets of outputs in words, and values of several lines.
import { expect, test } from 'vitest';
import { fromLines, toLines } from './output-form.tsx';
import { type OutputConnector, targetOf, withValue } from './output-types.ts';

const connector = (type: string, key: string, properties: object) =>
  ({ type, [key]: properties }) as unknown as OutputConnector;

test.each([
  [
    'WEBHOOK',
    'webhookProperties',
    { uri: 'https://a.example/in/{{deviceId}}', method: 'PUT' },
    'PUT a.example/in/{{deviceId}}',
  ],
  [
    'MAIL',
    'mailProperties',
    { recipients: ['a@example.com', 'b@example.com'] },
    'a@example.com, b@example.com',
  ],
  [
    'MQTT',
    'mqttProperties',
    { uri: 'mqtts://broker.example:8883', topic: 't' },
    't @ broker.example:8883',
  ],
  ['SLACK', 'slackProperties', { webhookUrl: '********' }, ''],
  ['OF_ANOTHER_RELEASE', 'x', {}, ''],
] as const)('%s', (type, key, properties, said) => {
  expect(targetOf(connector(type, key, properties))).toBe(said);
});

test.each([
  ['lines', ['a', 'b'], 'a\nb'],
  ['pairs', { 'x-a': 'b:c' }, 'x-a: b:c'],
  ['phones', [{ prefix: '+41', phone: '791234567' }], '+41 791234567'],
] as const)('%s are text and back', (kind, value, text) => {
  expect(toLines(kind, value)).toBe(text);
  expect(fromLines(kind, `${text}\n\n`)).toEqual(value);
});

test('a member is changed at its path, and an empty text leaves it out', () => {
  const changed = withValue({ uri: 'a' }, 'oauth2.clientId', 'me');
  expect(changed).toEqual({ uri: 'a', oauth2: { clientId: 'me' } });
  expect(withValue(changed, 'uri', '')).toEqual({ uri: null, oauth2: { clientId: 'me' } });
});
