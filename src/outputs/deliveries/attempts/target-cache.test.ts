// Target cache: one open target per connector, replaced when the connector changes, also while it is being read.
import { afterEach, expect, test } from 'vitest';
import { EgressGuard } from '../../egress/guard.ts';
import { testServices } from '../../connectors/testing-services.ts';
import type { OutputConnector } from '../../../model/connector.ts';
import { TargetCache, type OpenTarget } from './open-targets.ts';

const egress = new EgressGuard({ allow: [] });
afterEach(() => egress.close());

function connector(type: string, more: Partial<OutputConnector> = {}): OutputConnector {
  return {
    id: 'c',
    organizationId: 'o',
    workspaceId: 'w',
    name: 'c',
    scope: 'DATA_FLOW',
    type,
    sendConsecutiveAlerts: false,
    invokeRuleEngine: false,
    useCustomPayload: false,
    customPayload: null,
    properties: { message: '{{topic}}', webhookUrl: 'https://example.com/' },
    created: 0,
    updated: null,
    version: 0,
    ...more,
  };
}

function cacheOf(findConnector: (id: string) => Promise<OutputConnector | undefined>) {
  return new TargetCache(testServices(egress), findConnector, false);
}

test('deliveries of a connector share a target until the connector changes', async () => {
  const cache = cacheOf(async () => connector('SLACK'));
  const first = await cache.open('c');
  expect(await cache.open('c')).toBe(first);
  cache.forget('c');
  expect(first).toMatchObject({ isForgotten: true, users: 2 });
  expect(await cache.open('c')).not.toBe(first);
  await cache.close();
});

test('a connector that changes while it is read is used only once', async () => {
  const reading = Promise.withResolvers<OutputConnector>();
  const cache = cacheOf(() => reading.promise);
  const opening = cache.open('c');
  cache.forget('c');
  reading.resolve(connector('SLACK'));
  const opened = (await opening) as OpenTarget;
  expect(opened).toMatchObject({ isForgotten: true, users: 1 });
  expect(await cache.open('c')).not.toBe(opened);
});

test.each([
  [undefined, 'the connector was deleted'],
  [connector('TELEPATHY'), 'output type TELEPATHY is not available on this installation'],
  [connector('MAIL'), 'output type MAIL is not available on this installation'],
  [connector('SLACK', { useCustomPayload: true, customPayload: '{{' }), 'customPayload'],
])('nothing is delivered to %j', async (found, reason) => {
  expect(await cacheOf(async () => found).open('c')).toContain(reason);
});

test('the payload is the template of the connector, or the sample', async () => {
  const template = { useCustomPayload: true, customPayload: '{"t": {{topic}}}' };
  const custom = (await cacheOf(async () => connector('SLACK', template)).open('c')) as OpenTarget;
  expect(custom.payloadOf({ topic: 'a' })).toEqual({ payload: '{"t": "a"}', isDefault: false });
  const plain = (await cacheOf(async () => connector('SLACK')).open('c')) as OpenTarget;
  expect(plain.payloadOf({ topic: 'a' })).toMatchObject({ isDefault: true });
});
