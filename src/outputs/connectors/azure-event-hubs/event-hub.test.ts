// Event Hub connection strings: parts in any order and case, and the host of the endpoint.
import { expect, test } from 'vitest';
import { eventHub } from './azure-event-hubs.ts';

const rest = 'SharedAccessKeyName=n;SharedAccessKey=k;EntityPath=hub';

test('a connection string is read with any order and case of its parts', () => {
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

test.each([
  ['sb://ns/', 'ns'],
  ['sb://ns:5671/', 'ns:5671'],
  ['sb://[2001:db8::1]/', '[2001:db8::1]'],
  ['sb://[2001:db8::1]:5671', '[2001:db8::1]:5671'],
])('the endpoint %s has the host %s', (endpoint, host) => {
  expect(eventHub(`Endpoint=${endpoint};${rest}`)?.host).toBe(host);
});
