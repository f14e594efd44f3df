// Previews: the context of a device, of a topic or of the example device, and what a test sends.
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { SendOutcome } from '../connectors/target.ts';
import type { UplinkRoute } from '../../inventory/devices/uplink-route-cache.ts';
import type { Principal } from '../../model/principal.ts';
import { deviceStatusRows } from '../../storage/records/rows/device-status.ts';
import { type ContextSources, previewTemplate, testConnector } from './connector-test.ts';
import { openTestRecords, type TestRecords } from '../../storage/records/testing-records.ts';

const reader: Principal = {
  kind: 'API_KEY',
  id: 'k',
  name: 'k',
  organizationId: 'o',
  workspaces: 'all',
  permissions: { asset: ['read'] },
};
const device = { id: 'd', deviceId: 'p', name: 'n', organizationId: 'o', workspaceId: 'w' };
const route = { device, tags: [], customFields: {}, flow: { id: 'f' } } as unknown as UplinkRoute;

let opened: TestRecords;
let sources: ContextSources;
beforeAll(async () => {
  opened = await openTestRecords();
  const { db } = opened.records;
  await deviceStatusRows.saveMetrics(db, [
    { uplinkId: 'u', deviceId: 'd', uplinkSize: 3, timestamp: 8 },
  ]);
  sources = {
    db,
    store: {
      latestSample: async (deviceId, topic = 'default') =>
        topic === 'empty' ? undefined : { deviceId, topic, timestamp: 1, data: { t: 21 } },
    },
    findRoute: () => route,
    now: () => 9,
  };
});
afterAll(() => opened.close());

const request = {
  template: '"{{data.t}}"',
  place: 'text',
  deviceId: 'd',
  topic: undefined,
  context: undefined,
} as const;

test.each([
  [{}, '"21"', null],
  [{ template: '{{topic}}', topic: 'climate' }, 'climate', null],
  [{ template: '{{uplinkMetrics.uplinkSize}}' }, '3', null],
  [{ context: { data: { t: 5 } } }, '"5"', null],
  [{ deviceId: undefined, template: '{{data.temperature}}' }, '21.5', null],
  [{ place: 'url', template: 'here' }, 'here', 'it is not a valid URL'],
  [{ place: 'url', template: 'https://a.example/{{data.t}}' }, 'https://a.example/21', null],
  [{ place: 'json', template: '{"a": {{data.t}}}' }, '{"a": 21}', null],
  [{ place: 'json', template: '{"a"' }, '{"a"', expect.stringMatching(/^it is not valid JSON: /)],
] as const)('%j renders %j', async (changes, text, reason) => {
  const preview = await previewTemplate({ ...request, ...changes }, reader, sources);
  expect(preview).toMatchObject({ text, reason, valid: reason === null });
});

test.each([
  [{ topic: 'empty' }, reader, 404],
  [{}, { ...reader, organizationId: 'other' }, 404],
  [{}, { ...reader, permissions: {} }, 403],
  [{ template: '{{nothing' }, reader, 400],
] as const)('%j is rejected', async (changes, principal, status) => {
  const work = previewTemplate({ ...request, ...changes }, principal, sources);
  await expect(work).rejects.toMatchObject({ status });
});

const idle = new AbortController().signal;

async function tested(
  outcome: SendOutcome & { readonly sent?: string },
  options: { readonly deviceId?: string; readonly signal?: AbortSignal } = {},
) {
  const sent: unknown[] = [];
  const targets = {
    test: async (connectorId: string, message: object, signal: AbortSignal) => {
      sent.push([connectorId, message]);
      // A target that does not answer.
      if (signal.aborted) await new Promise(() => undefined);
      return outcome;
    },
  };
  const { deviceId, signal = idle } = options;
  const parts = { ...sources, targets, newId: () => 'id' };
  const result = await testConnector({ connectorId: 'c', deviceId, signal }, reader, parts);
  return { sent, result };
}

test('a test sends the last sample of the device', async () => {
  const { sent, result } = await tested({ ok: true, answer: 'ok' }, { deviceId: 'd' });
  const message = { deliveryId: 'id', deviceId: 'd', createdAt: 9 };
  expect(sent).toMatchObject([['c', { ...message, context: { data: { t: 21 } } }]]);
  const { durationMs, ...answer } = result;
  expect(answer).toEqual({ ok: true, answer: 'ok', reason: null, payload: null });
  expect(durationMs).toBeGreaterThanOrEqual(0);
});

test('a test without a device sends the example, and answers are cut', async () => {
  const outcome = { ok: false, retry: false, reason: 'no', sent: 'p'.repeat(70_000) } as const;
  const { sent, result } = await tested({ ...outcome, answer: 'a'.repeat(20_000) });
  expect(sent).toMatchObject([['c', { deviceId: '', context: { deviceId: 'test-device' } }]]);
  expect(result).toMatchObject({ ok: false, reason: 'no' });
  expect([result.answer?.length, result.payload?.length]).toEqual([16 * 1024, 64 * 1024]);
});

test('a target that does not answer in time', async () => {
  const { result } = await tested({ ok: true, answer: '' }, { signal: AbortSignal.abort() });
  expect(result).toMatchObject({ ok: false, reason: 'timed out after 10 s' });
});
