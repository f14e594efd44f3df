// Contract 37: subscriptions to workspaces, on a session without a socket.
import { describe, expect, test } from 'vitest';
import { cursorAt } from '../../model/journal-entry.ts';
import { type LiveKind, liveKinds } from '../../model/live-kind.ts';
import type { Scope } from '../../model/principal.ts';
import { QuotaCount, standardQuotas } from '../../model/quota.ts';
import { createWorkspaceWatch } from './access-watch.ts';
import { publishEntry, publishRows } from './fan-out.ts';
import {
  openTestSession,
  type Received,
  storedSample,
  testFanOut,
  testPrincipal,
} from './testing-session.ts';
import type { WorkspaceGrant } from './workspace-fan-out.ts';

const grant = (
  kinds: readonly LiveKind[] = liveKinds,
  readable: readonly Scope[] = ['asset', 'rule', 'workspace'],
): WorkspaceGrant => ({
  organizationId: '28a',
  kinds: new Set(kinds),
  readable: new Set(readable),
});

function openWorld(grants: Readonly<Record<string, WorkspaceGrant>> = { '29a': grant() }) {
  const clock = { now: 1_800_000_000_000 };
  const now = () => clock.now;
  const fanOut = testFanOut(now);
  const session = openTestSession({ fanOut, grants, now });
  const subscribe = (...items: object[]) =>
    session.send({ type: 'subscribe', subscriptions: items });
  return {
    clock,
    now,
    fanOut,
    ...session,
    session: session.session,
    send: session.send,
    subscribe,
  };
}

const ofType = (received: readonly Received[], type: string) =>
  received.filter((message) => message.type === type);

describe('acknowledgements', () => {
  test('a workspace is one item, with its kinds in the order of the table', async () => {
    const { subscribe } = openWorld();
    const item = { workspaceId: '29a', kinds: ['RULE_RUN', 'SAMPLE', 'SAMPLE'], perSecond: 5 };
    const [ack] = await subscribe(item, { assetId: '02a' });
    expect(ack!.subscriptions).toEqual([
      { assetId: '02a', topic: 'default', valid: true },
      { workspaceId: '29a', kinds: ['SAMPLE', 'RULE_RUN'], perSecond: 5, valid: true },
    ]);
  });

  test('unknown workspaces and forbidden kinds are valid: false, the others apply', async () => {
    const { subscribe, session } = openWorld({ '29a': grant(['SAMPLE']) });
    const [ack] = await subscribe(
      { workspaceId: '29a', kinds: ['SAMPLE', 'RULE_RUN'] },
      { workspaceId: '29x', kinds: ['SAMPLE'] },
    );
    expect(ack!.subscriptions).toEqual([
      { workspaceId: '29a', kinds: ['SAMPLE'], valid: true },
      {
        workspaceId: '29a',
        kinds: ['RULE_RUN'],
        valid: false,
        reason: 'The credential lacks the permission for RULE_RUN',
      },
      {
        workspaceId: '29x',
        kinds: ['SAMPLE'],
        valid: false,
        reason: 'The workspace is unknown or out of reach of the credential',
      },
    ]);
    expect(session.subscriptions).toBe(1);
  });

  test.each([
    [{ workspaceId: '29a', assetId: '02a', kinds: ['SAMPLE'] }, 'INVALID_SUBSCRIPTION'],
    [{ workspaceId: '29a' }, 'INVALID_SUBSCRIPTION'],
    [{ workspaceId: '29a', kinds: [] }, 'INVALID_SUBSCRIPTION'],
    [{ workspaceId: '29a', kinds: ['SAMPLE'], topic: 'x' }, 'INVALID_SUBSCRIPTION'],
    [{ workspaceId: '29a', kinds: ['SAMPLE'], since: '1' }, 'INVALID_SUBSCRIPTION'],
    [{ assetId: '02a', kinds: ['SAMPLE'] }, 'INVALID_SUBSCRIPTION'],
    [{ workspaceId: '29a', kinds: ['WEATHER'] }, 'INVALID_MESSAGE'],
    [{ workspaceId: '29a', kinds: ['SAMPLE'], perSecond: 0 }, 'INVALID_MESSAGE'],
    [{ workspaceId: '29a', kinds: ['SAMPLE'], perSecond: 1.5 }, 'INVALID_MESSAGE'],
  ])('%j: %s, and nothing of the message applies', async (item, errorCode) => {
    const { subscribe, session } = openWorld();
    const [error] = await subscribe({ workspaceId: '29a', kinds: ['ALARM'] }, item);
    expect(error).toMatchObject({ type: 'error', errorCode });
    expect(session.subscriptions).toBe(0);
  });

  test('unsubscribe ends one combination, all of a workspace, or everything', async () => {
    const { subscribe, send, session, fanOut } = openWorld();
    const [a, b] = [['SAMPLE'], ['SAMPLE', 'ALARM']].map((kinds) => ({
      workspaceId: '29a',
      kinds,
    }));
    await subscribe(a!, b!);
    const [first] = await send({ type: 'unsubscribe', subscriptions: [a] });
    expect(first!.subscriptions).toEqual([{ ...b, valid: true }]);
    expect(fanOut.workspaces.wants('29a', 'SAMPLE')).toBe(true);
    await subscribe(a!);
    await send({ type: 'unsubscribe', subscriptions: [{ workspaceId: '29a' }] });
    expect([session.subscriptions, fanOut.workspaces.size]).toEqual([0, 0]);
    await subscribe(a!, { assetId: '02a' });
    await send({ type: 'unsubscribe' });
    expect([session.subscriptions, fanOut.workspaces.size]).toEqual([0, 0]);
  });

  test('with echo: false the answer has a number and what was refused', async () => {
    const { send } = openWorld();
    const subscriptions = [
      { assetId: '02a' },
      { assetId: '02x' },
      { workspaceId: '29x', kinds: ['ALARM'] },
    ];
    const [ack] = await send({ type: 'subscribe', echo: false, subscriptions });
    expect(ack).toMatchObject({
      type: 'subscribed',
      open: 1,
      subscriptions: [
        { assetId: '02x', topic: 'default', valid: false },
        { workspaceId: '29x', kinds: ['ALARM'], valid: false },
      ],
    });
    const [after] = await send({ type: 'unsubscribe', echo: false });
    expect(after).toMatchObject({ type: 'unsubscribed', open: 0, subscriptions: [] });
  });

  test('each combination is one of the subscription items of the organization', async () => {
    const items = new QuotaCount({ ...standardQuotas, subscriptionItems: 2 }, 'subscriptionItems');
    const { send, session } = openTestSession({ items, grants: { '29a': grant() } });
    const item = (kind: LiveKind) => ({ workspaceId: '29a', kinds: [kind] });
    await send({ type: 'subscribe', subscriptions: [item('SAMPLE'), item('SAMPLE')] });
    expect(items.usedBy('28a')).toBe(1);
    const subscriptions = [item('ALARM'), { assetId: '02a' }];
    const [error] = await send({ type: 'subscribe', subscriptions });
    expect(error).toMatchObject({ errorCode: 'TOO_MANY_SUBSCRIPTIONS' });
    expect([session.subscriptions, items.usedBy('28a')]).toEqual([1, 1]);
    session.close();
    expect(items.usedBy('28a')).toBe(0);
  });
});

describe('samples', () => {
  test('only of the workspace, and once when the device is subscribed to as well', async () => {
    const { subscribe, fanOut, now, settle } = openWorld();
    await subscribe({ workspaceId: '29a', kinds: ['SAMPLE'] }, { assetId: '02a' });
    const elsewhere = { ...storedSample(3, '02c'), workspaceId: '29b' };
    fanOut.publish([storedSample(1, '02a'), storedSample(2, '02b', 'door'), elsewhere], now());
    const received = await settle();
    expect(received.map(({ sample }) => (sample as { deviceId: string }).deviceId)).toEqual([
      '02a',
      '02b',
    ]);
  });

  test('above perSecond they are thinned evenly, and a message says how many were omitted', async () => {
    const { subscribe, fanOut, clock, now, settle, session } = openWorld();
    await subscribe({ workspaceId: '29a', kinds: ['SAMPLE'], perSecond: 10 });
    const perSecond: number[] = [];
    let sent = 0;
    let leftOut = 0;
    for (let n = 0; n < 5_000; n++) {
      clock.now += 1;
      fanOut.publish([storedSample(n, `02${n % 7}`)], now());
      if (n % 1_000 !== 999) continue;
      session.tick();
      const received = await settle();
      perSecond.push(ofType(received, 'sample_insert').length);
      for (const event of ofType(received, 'event')) {
        expect(event).toMatchObject({ kind: 'SAMPLE', workspaceId: '29a' });
        leftOut += event['leftOut'] as number;
      }
      sent += perSecond.at(-1)!;
    }
    expect(Math.max(...perSecond)).toBeLessThanOrEqual(11);
    expect(Math.min(...perSecond)).toBeGreaterThanOrEqual(9);
    expect(sent + leftOut).toBe(5_000);
  });

  test('an entry whose samples no session would be sent is not read, and is counted', async () => {
    const { subscribe, fanOut, now, settle, session } = openWorld();
    await subscribe({ workspaceId: '29a', kinds: ['SAMPLE'], perSecond: 1 });
    fanOut.publish([storedSample(1, '02a')], now());
    const entry = {
      deviceId: '02b',
      position: 2,
      receivedAt: 0,
      notes: [],
      duplicates: 0,
      summary: { count: 1_000, workspaceId: '29a', dataFlowId: null, oldest: 0 },
      get samples(): never {
        throw new Error('created');
      },
    };
    publishEntry(fanOut, entry, now);
    session.tick();
    expect(ofType(await settle(), 'event')).toMatchObject([{ leftOut: 1_000 }]);
  });

  test('rows that no session would be sent are not read, and are counted', async () => {
    const { subscribe, fanOut, now, settle, session } = openWorld();
    const summary = { count: 3, workspaceId: '29a', dataFlowId: null, oldest: 0 };
    const rows = { position: 1, length: 3, receivedAt: 0, summary };
    const unread = () => expect.fail('created');
    publishRows(fanOut, { ...rows, entryAt: unread }, now);
    expect([fanOut.firstCursor, fanOut.lastCursor]).toEqual([cursorAt(1, 1), cursorAt(3, 1)]);
    await subscribe({ workspaceId: '29a', kinds: ['SAMPLE'], perSecond: 1 });
    const entryAt = (place: number) => ({
      deviceId: '02a',
      receivedAt: 0,
      notes: [],
      duplicates: 0,
      position: 4 + place,
      summary: { ...summary, count: 1 },
      samples: [{ ...storedSample(place, '02a'), cursor: cursorAt(4 + place, 1) }],
    });
    publishRows(fanOut, { ...rows, position: 4, entryAt }, now);
    const sent = ofType(await settle(), 'sample_insert');
    expect(sent).toHaveLength(1);
    publishRows(fanOut, { ...rows, position: 7, entryAt: unread }, now);
    expect(fanOut.lastCursor).toBe(cursorAt(9, 1));
    session.tick();
    const leftOut = ofType(await settle(), 'event').map((event) => Number(event['leftOut']));
    expect(sent.length + leftOut.reduce((sum, count) => sum + count, 0)).toBe(6);
  });
});

describe('events', () => {
  test('nothing is created when no session follows the kind', async () => {
    const { subscribe, fanOut } = openWorld();
    await subscribe({ workspaceId: '29a', kinds: ['ALARM'] });
    const content = () => {
      throw new Error('created');
    };
    fanOut.workspaces.publish({ workspaceId: '29a', kind: 'RULE_RUN', content });
    fanOut.workspaces.publish({ workspaceId: '29b', kind: 'ALARM', content });
  });

  test('an event is sent once per session, and says what and where', async () => {
    const { subscribe, fanOut, settle } = openWorld();
    await subscribe(
      { workspaceId: '29a', kinds: ['ALARM'] },
      { workspaceId: '29a', kinds: ['ALARM', 'SAMPLE'] },
    );
    const content = () => ({ change: 'OPENED' });
    fanOut.workspaces.publish({ workspaceId: '29a', kind: 'ALARM', content });
    expect(await settle()).toEqual([
      {
        type: 'event',
        kind: 'ALARM',
        workspaceId: '29a',
        change: 'OPENED',
        timestamp: '2027-01-15T08:00:00.000Z',
      },
    ]);
  });

  test('changes of records are shown to those who may read the records', async () => {
    const { subscribe, fanOut, settle } = openWorld({ '29a': grant(liveKinds, ['asset']) });
    await subscribe({ workspaceId: '29a', kinds: ['RECORD_CHANGED'] });
    for (const scope of ['asset', 'rule'] as const)
      fanOut.workspaces.publish({
        workspaceId: '29a',
        kind: 'RECORD_CHANGED',
        scope,
        content: () => ({ scope }),
      });
    expect(await settle()).toMatchObject([{ scope: 'asset' }]);
  });

  test('a storm of one organization costs a bounded time, and others get all of theirs', async () => {
    const now = () => 1_800_000_000_000;
    const fanOut = testFanOut(now);
    const grants = { '29a': grant(), '29b': { ...grant(), organizationId: '28b' } };
    const stormed = openTestSession({ fanOut, grants, now });
    const quiet = openTestSession({ fanOut, grants, now });
    const subscriptionsTo = (workspaceId: string) => ({
      type: 'subscribe',
      subscriptions: [{ workspaceId, kinds: ['DELIVERY', 'ALARM'] }],
    });
    await stormed.send(subscriptionsTo('29a'));
    await quiet.send(subscriptionsTo('29b'));
    let created = 0;
    const publish = (workspaceId: string, kind: LiveKind) =>
      fanOut.workspaces.publish({ workspaceId, kind, content: () => ({ n: ++created }) });
    for (let n = 0; n < 100_000; n++) publish('29a', 'DELIVERY');
    expect(created).toBeLessThanOrEqual(50_000);
    publish('29a', 'ALARM');
    publish('29b', 'DELIVERY');
    const ofQuiet = await quiet.settle();
    expect(ofQuiet).toHaveLength(1);
    stormed.session.tick();
    const ofStormed = await stormed.settle();
    expect(ofStormed.filter(({ kind }) => kind === 'DELIVERY').length).toBeGreaterThan(1_000);
    const notices = ofStormed.filter((event) => 'leftOut' in event);
    expect(notices).toMatchObject([{ kind: 'DELIVERY', workspaceId: '29a' }, { kind: 'ALARM' }]);
  });

  test.each([
    ['workspace', '29a', true],
    ['workspace', '29b', false],
    ['apiKey', testPrincipal.id, true],
    ['apiKey', '11b', false],
    ['organization', '28a', true],
    ['device', '29a', false],
  ] as const)('the deletion of %s %s ends the subscription: %s', async (kind, id, isEnded) => {
    const { subscribe, fanOut, settle, session } = openWorld();
    await subscribe({ workspaceId: '29a', kinds: ['ALARM'] });
    createWorkspaceWatch(fanOut.workspaces)({ kind, id, action: 'deleted' });
    const ended = { workspaceId: '29a', kinds: ['ALARM'], valid: false };
    const expected = isEnded ? [{ type: 'unsubscribed', ended: [ended], subscriptions: [] }] : [];
    expect(await settle()).toMatchObject(expected);
    expect(session.subscriptions).toBe(isEnded ? 0 : 1);
  });
});
