// Import checks of device fields: every kind of value at its limits, and what the message says.
import { expect, test } from 'vitest';
import type { Json, JsonObject } from '../../model/json.ts';
import { checkedDeviceId, checkedFields } from './device-import.ts';

function reported(check: (report: (field: string | null, message: string) => void) => unknown) {
  const problems: string[] = [];
  const result = check((field, message) => problems.push(`${field} ${message}`));
  return { result, problems };
}

test.each<[string, Json]>([
  ['name', 'n'],
  ['name', 'n'.repeat(500)],
  ['description', ''],
  ['description', 'd'.repeat(10_000)],
  ['connectivity', 'COAP'],
  ['onlineTimeout', 1],
  ['onlineTimeout', 366 * 86_400],
  ['excludeFromLifecycleReport', false],
  ['properties', {}],
])('%s takes a value at its limit (%#)', (field, value) => {
  const values: JsonObject = { [field]: value };
  expect(reported((report) => checkedFields(values, report))).toEqual({
    result: values,
    problems: [],
  });
});

test.each<[string, Json, string]>([
  ['name', '', 'must be a string of 1 to 500 characters'],
  ['name', 'n'.repeat(501), 'must be a string of 1 to 500 characters'],
  ['description', 'd'.repeat(10_001), 'must be a string of 0 to 10000 characters'],
  ['description', 7, 'must be a string of 0 to 10000 characters'],
  ['connectivity', 'http', 'must be one of LORA, MQTT, HTTP, COAP'],
  ['onlineTimeout', 0, 'must be an integer from 1 to 31622400'],
  ['onlineTimeout', 1.5, 'must be an integer from 1 to 31622400'],
  ['onlineTimeout', '60', 'must be an integer from 1 to 31622400'],
  ['excludeFromLifecycleReport', 'true', 'must be true or false'],
  ['properties', [], 'must be an object'],
])('%s reports an invalid value (%#)', (field, value, message) => {
  expect(reported((report) => checkedFields({ [field]: value }, report))).toEqual({
    result: {},
    problems: [`${field} ${message}`],
  });
});

test('null counts as absent, and the physical id is checked on its own', () => {
  const values = { name: null, properties: null, deviceId: 7 };
  expect(reported((report) => checkedFields(values, report))).toEqual({ result: {}, problems: [] });
});

test.each<[JsonObject, string | undefined, string[]]>([
  [{ deviceId: 'd-1' }, 'd-1', []],
  [{}, undefined, ['deviceId is required']],
  [{ deviceId: null }, undefined, ['deviceId is required']],
  [{ deviceId: '' }, undefined, ['deviceId must be a string of 1 to 200 characters']],
  [{ deviceId: 'd'.repeat(201) }, undefined, ['deviceId must be a string of 1 to 200 characters']],
])('physical id %j', (values, result, problems) => {
  expect(reported((report) => checkedDeviceId(values, report))).toEqual({ result, problems });
});
