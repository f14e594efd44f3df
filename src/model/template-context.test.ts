// Template context: the JSON string that the delivery log keeps is the whole context.
import { expect, test } from 'vitest';
import { contextText, defaultPayload, type TemplateContext } from './template-context.ts';

const sample: TemplateContext = {
  data: { t: 21.5, 'a "b"': [1, null] },
  meta: {},
  topic: 'default',
  timestamp: '2026-03-01T12:00:00.000Z',
  deviceId: 'p',
  svcDeviceId: '02aa',
  akenzaDeviceId: '02aa',
  correlationId: 'c',
  device: { name: 'Kitchen' },
  uplinkMetrics: null,
  uplinkMeta: { bytesReceived: 3 },
};
const rule = { ruleId: '0a', name: 'Hot', description: null, workspaceId: '03' };

const contexts: Readonly<Record<string, TemplateContext>> = {
  'a sample': sample,
  'a sample with its payload': { ...sample, rawData: { port: 2, payloadHex: '00ff' } },
  'a sample of a device at a place': { ...sample, place: { id: '41', name: 'F', path: 'S/F' } },
  'a sample of a device at no place': { ...sample, place: null },
  'a rule': { ...sample, rule, result: { level: 2 }, dataSources: {} },
  'an alarm': { alarm: { id: '1f' }, change: 'OPENED', rule },
  'only a payload': { rawData: { port: null } },
  'no value': {},
};

for (const [title, context] of Object.entries(contexts)) {
  test(`the JSON of ${title} has every value, with and without the payload that is known`, () => {
    expect(JSON.parse(contextText(context))).toEqual(context);
    const payload = defaultPayload(context, true);
    expect(JSON.parse(contextText(context, payload))).toEqual(context);
  });
}
