// Delivery worker with a real log and a test clock: the retry plan, limits and random restarts.
import { mailConnectorId } from '../../../model/ids.ts';
import { afterEach, expect, test } from 'vitest';
import type { SendOutcome } from '../../connectors/target.ts';
import {
  openTestLog,
  storedDelivery,
  testFolder,
} from '../../../storage/delivery-log/testing-log.ts';
import { Deliverer, delivererLimits, planAfter, retryDelaysMs } from './delivery-worker.ts';
import { waitingRecord, loadDelivery, recordAttempt } from './waiting-delivery.ts';

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

/** Timers that fire when a test moves the clock. */
function testClock() {
  const tasks = new Set<{ readonly at: number; readonly task: () => void }>();
  const clock = { now: 0 };
  return {
    clock,
    schedule(task: () => void, delayMs: number) {
      const one = { at: clock.now + delayMs, task };
      tasks.add(one);
      return () => void tasks.delete(one);
    },
    /** Moves to the next timer; false when there is none. */
    next(): boolean {
      const first = [...tasks].toSorted((a, b) => a.at - b.at)[0];
      if (first === undefined) return false;
      tasks.delete(first);
      clock.now = Math.max(clock.now, first.at);
      first.task();
      return true;
    },
  };
}

async function openLog() {
  const { directory, remove } = testFolder();
  const { log } = await openTestLog(directory);
  cleanups.push(remove, () => log.close());
  let made = 0;
  return {
    log,
    async add(deviceId = 'd', connectorId = 'c') {
      const record = storedDelivery(made++, { deviceId, connectorId });
      log.append(record);
      return record.id;
    },
    async state(id: string) {
      const row = await log.find(id);
      return row && log.read(row.place);
    },
    /** What waits, as a start finds it. */
    pending: async () => (await log.recover(0)).pending.toSorted((a, b) => a.sequence - b.sequence),
  };
}

type Parts = ConstructorParameters<typeof Deliverer>[0];

async function deliver(
  { log, pending }: Awaited<ReturnType<typeof openLog>>,
  send: Parts['send'],
  over: Partial<Parts> = {},
) {
  const time = testClock();
  const failures: unknown[] = [];
  const waiting = (await pending()).map((row) => waitingRecord(row, row.place));
  const deliverer = new Deliverer({
    load: (one) => loadDelivery(one, log),
    send,
    saveNotes: async () => undefined,
    record: (tried) => recordAttempt(tried, log),
    failed: (error) => failures.push(error),
    newId: () => 'note',
    now: () => time.clock.now,
    clock: () => time.clock.now,
    random: () => 0.5,
    setTimer: time.schedule,
    ...over,
  });
  deliverer.add(waiting);
  cleanups.push(() => deliverer.close());
  return { deliverer, failures, ...time };
}

const failed: SendOutcome = { ok: false, retry: true, reason: 'down' };

test('contract 35: tries after 1 s, 5 s, 30 s, 2 min, 10 min, 1 h, 4 h and 12 h, then the dead letter', async () => {
  const log = await openLog();
  const id = await log.add();
  const tries: number[] = [];
  const { deliverer, clock, next } = await deliver(log, async () => {
    tries.push(clock.now);
    return failed;
  });
  await deliverer.settled();
  while (next()) await deliverer.settled();
  const pauses = tries.slice(1).map((at, i) => at - tries[i]!);
  expect(pauses).toEqual([
    1_000, 5_000, 30_000, 120_000, 600_000, 3_600_000, 14_400_000, 43_200_000,
  ]);
  expect(await log.state(id)).toMatchObject({ state: 'DEAD', tries: 9, reason: 'down' });
});

test('behaviour D: what a target refuses as 401, 403 or 404 is retried for 6 hours, then dead', async () => {
  const log = await openLog();
  const id = await log.add();
  const tries: number[] = [];
  const refused: SendOutcome = { ok: false, retry: 'HOURS', reason: 'returned 401' };
  const { deliverer, clock, next } = await deliver(log, async () => {
    tries.push(clock.now);
    return refused;
  });
  await deliverer.settled();
  while (next()) await deliverer.settled();
  expect(tries).toHaveLength(9);
  expect(tries.at(-1)).toBe(6 * 3_600_000);
  expect(await log.state(id)).toMatchObject({ state: 'DEAD', tries: 9, reason: 'returned 401' });
});

test('review reliability 16: a target that goes down and one that is back are told once each', async () => {
  const log = await openLog();
  await log.add();
  let isDown = true;
  const told: unknown[] = [];
  const targetChanged = (...change: unknown[]) => void told.push(change);
  const send = async (): Promise<SendOutcome> => (isDown ? failed : { ok: true, answer: '' });
  const { deliverer, next } = await deliver(log, send, { targetChanged });
  await deliverer.settled();
  for (let i = 0; i < 6; i++) {
    next();
    await deliverer.settled();
  }
  expect(told).toEqual([['c', true, 'down']]);
  isDown = false;
  while (told.length < 2 && next()) await deliverer.settled();
  expect(told).toEqual([
    ['c', true, 'down'],
    ['c', false, null],
  ]);
});

test('contract 35: a delay differs by up to 20 %, Retry-After makes it longer, never shorter', () => {
  for (const [i, delayMs] of retryDelaysMs.entries()) {
    const at = (random: number, retryAfterMs = 0) =>
      planAfter({ ...failed, retryAfterMs }, { tries: i + 1, now: 0, random }).nextAt;
    expect([at(0), at(0.5), at(1)]).toEqual(
      [delayMs * 0.8, delayMs, delayMs * 1.2].map(Math.round),
    );
    expect(at(0.5, delayMs * 3)).toBe(Math.min(delayMs * 3, 86_400_000));
    expect(at(0.5, 1)).toBe(delayMs);
  }
  expect(
    planAfter({ ok: false, retry: false, reason: 'x' }, { tries: 1, now: 5, random: 0 }),
  ).toEqual({
    state: 'DEAD',
    nextAt: 5,
  });
  expect(planAfter({ ok: true, answer: '' }, { tries: 9, now: 5, random: 0 })).toEqual({
    state: 'DELIVERED',
    nextAt: 5,
  });
});

test('a try ends after its time although the connector does not heed the signal', async () => {
  const log = await openLog();
  const id = await log.add();
  const started = Promise.withResolvers<void>();
  const { deliverer, clock, next } = await deliver(log, () => {
    started.resolve();
    return new Promise(() => {});
  });
  await started.promise;
  next();
  await deliverer.settled();
  expect(clock.now).toBe(delivererLimits.tryMsMax);
  expect(await log.state(id)).toMatchObject({
    state: 'PENDING',
    tries: 1,
    reason: 'timed out after 10 s',
  });
});

test('one hanging target does not delay another one', async () => {
  const log = await openLog();
  for (let i = 0; i < 50; i++) await log.add(`d${i}`, 'hanging');
  const well = await Promise.all(Array.from({ length: 20 }, () => log.add('d', 'well')));
  const arrived: string[] = [];
  const done = Promise.withResolvers<void>();
  const { clock } = await deliver(log, ({ connectorId, id }) => {
    if (connectorId === 'hanging') return new Promise(() => {});
    if (arrived.push(id) === well.length) done.resolve();
    return Promise.resolve({ ok: true, answer: 'ok' });
  });
  await done.promise;
  expect([arrived, clock.now]).toEqual([well, 0]);
  // What hangs must end before the deliverer closes.
  cleanups.pop();
});

test('notes that cannot be written are kept and written later, and nothing is sent twice for them', async () => {
  const log = await openLog();
  const id = await log.add();
  let sent = 0;
  let isBroken = true;
  const saved: unknown[] = [];
  const saveNotes: Parts['saveNotes'] = async (notes) => {
    if (isBroken) throw new Error('disk');
    saved.push(...notes);
  };
  const refused = async (): Promise<SendOutcome> => {
    sent += 1;
    return { ok: false, retry: false, reason: 'no' };
  };
  const { deliverer, failures, next } = await deliver(log, refused, { saveNotes });
  await expect.poll(() => failures.length).toBe(1);
  expect((await log.state(id))?.state).toBe('PENDING');
  isBroken = false;
  next();
  await deliverer.settled();
  expect([sent, (await log.state(id))?.state, saved.length]).toEqual([1, 'DEAD', 1]);
});

test('a log that is too far behind holds deliveries back until it is not', async () => {
  const log = await openLog();
  const id = await log.add();
  let isBlocked = true;
  const send = async (): Promise<SendOutcome> => ({ ok: true, answer: '' });
  const { deliverer } = await deliver(log, send, { isBlocked: () => isBlocked });
  await deliverer.settled();
  expect((await log.state(id))?.state).toBe('PENDING');
  isBlocked = false;
  deliverer.wake();
  await deliverer.settled();
  expect((await log.state(id))?.state).toBe('DELIVERED');
});

test('restarts at random points lose nothing, keep the order of first arrivals, and repeat only what was under way', async () => {
  const log = await openLog();
  const total = 120;
  for (let i = 0; i < total; i++) await log.add(`d${i % 4}`, `c${i % 2}`);
  const arrivals: string[] = [];
  let repeated = 0;
  let random = 7;
  const chance = () => (random = (random * 16_807) % 2_147_483_647) / 2_147_483_647;
  for (let restarts = 0; ; restarts++) {
    let isDead = false;
    const send = async ({ id }: { readonly id: string }): Promise<SendOutcome> => {
      if (isDead) return new Promise(() => {});
      if (chance() < 0.2) return failed;
      if (arrivals.includes(id)) repeated += 1;
      arrivals.push(id);
      // Stopping here is stopping between arrival and writing.
      if (chance() < 0.1) isDead = true;
      return isDead ? new Promise(() => {}) : { ok: true, answer: 'ok' };
    };
    // A process that has ended writes nothing, and none of its timers fires.
    const record: Parts['record'] = (tried) => {
      if (!isDead) recordAttempt(tried, log.log);
    };
    const { deliverer, next } = await deliver(log, send, { record });
    cleanups.pop();
    while (!isDead && deliverer.waiting > 0) {
      await new Promise((resolve) => void setImmediate(resolve));
      if (!isDead) next();
    }
    const left = await log.pending();
    if (left.length === 0) break;
    expect(restarts).toBeLessThan(300);
  }
  expect(new Set(arrivals).size).toBe(total);
  expect(repeated).toBeLessThanOrEqual(60);
  const firsts = [...new Set(arrivals)].map((id) => Number(id.slice(2)));
  for (const lane of [0, 1, 2, 3]) {
    const order = firsts.filter((n) => n % 4 === lane);
    expect(order).toEqual(order.toSorted((a, b) => a - b));
  }
});

test('stopping gives a try that hangs a moment, breaks it off and leaves its delivery as it was', async () => {
  const log = await openLog();
  const id = await log.add();
  const sending = Promise.withResolvers<AbortSignal>();
  const { deliverer, clock, next } = await deliver(log, (_delivery, signal) => {
    sending.resolve(signal);
    return new Promise(() => undefined);
  });
  const signal = await sending.promise;
  const closed = deliverer.close();
  while (!signal.aborted) {
    await new Promise((resolve) => void setImmediate(resolve));
    next();
  }
  await closed;
  expect(clock.now).toBe(delivererLimits.closeGraceMs);
  expect(await log.state(id)).toMatchObject({ state: 'PENDING', tries: 0 });
});

const steps = [-5_000, 5_000, -86_400_000, 86_400_000, 2 * 365 * 86_400_000];

test.each(steps)(
  'reliability 1: a wall clock that steps by %d ms during attempts delays no retry',
  async (step) => {
    const log = await openLog();
    const id = await log.add();
    let wall = 1_700_000_000_000;
    const tries: number[] = [];
    const took: number[] = [];
    const { deliverer, failures, clock, next } = await deliver(
      log,
      async () => {
        tries.push(clock.now);
        wall += step;
        return failed;
      },
      {
        now: () => wall,
        record(tried) {
          took.push(tried.tookMs);
          recordAttempt(tried, log.log);
        },
      },
    );
    await deliverer.settled();
    while (next()) await deliverer.settled();
    const pauses = tries.slice(1).map((at, i) => at - tries[i]!);
    expect(pauses).toEqual([
      1_000, 5_000, 30_000, 120_000, 600_000, 3_600_000, 14_400_000, 43_200_000,
    ]);
    expect(took).toEqual(took.map(() => 0));
    expect(failures).toEqual([]);
    expect(await log.state(id)).toMatchObject({ state: 'DEAD', tries: 9 });
  },
);

test.each(steps)(
  'reliability 1: a wall clock that steps by %d ms ends no attempt late',
  async (step) => {
    const log = await openLog();
    const id = await log.add();
    let wall = 1_700_000_000_000;
    const { deliverer, clock, next } = await deliver(log, () => new Promise(() => undefined), {
      now: () => wall,
    });
    wall += step;
    for (let i = 0; i < 3; i++) {
      await new Promise((resolve) => void setImmediate(resolve));
      if ((await log.state(id))?.tries === 0) next();
    }
    await new Promise((resolve) => void setImmediate(resolve));
    expect(clock.now).toBe(delivererLimits.tryMsMax);
    expect(await log.state(id)).toMatchObject({ tries: 1, reason: 'timed out after 10 s' });
    await deliverer.release(() => true);
  },
);

test.each(steps)(
  'reliability 1: a clock that is %d ms off that of the node before delays no delivery',
  async (step) => {
    const log = await openLog();
    const made = 1_700_000_000_000;
    const paused = { tries: 2, nextAt: made + 5_000 };
    for (const [n, over] of [{}, paused].entries())
      log.log.append(
        storedDelivery(n, {
          deviceId: `d${n}`,
          created: made,
          updated: made,
          nextAt: made,
          ...over,
        }),
      );
    const tries: string[] = [];
    const { deliverer, clock, next } = await deliver(
      log,
      async ({ deviceId }) => {
        tries.push(`${deviceId} after ${clock.now}`);
        return { ok: true, answer: '' };
      },
      { now: () => made + step },
    );
    await deliverer.settled();
    while (next()) await deliverer.settled();
    expect(tries.toSorted()).toEqual([
      'd0 after 0',
      `d1 after ${step > 0 ? 5_000 - Math.min(step, 5_000) : 5_000}`,
    ]);
  },
);

test('reliability 1: whatever throws after an attempt releases the queue, and the delivery is tried again', async () => {
  const log = await openLog();
  const ids = [await log.add(), await log.add()];
  let refusals = 2;
  const { deliverer, failures, next } = await deliver(log, async () => ({ ok: true, answer: '' }), {
    record(tried) {
      if (refusals-- > 0) throw new Error('a figure cannot be lower');
      recordAttempt(tried, log.log);
    },
  });
  await deliverer.settled();
  while (next()) await deliverer.settled();
  expect(failures).toHaveLength(2);
  for (const id of ids) expect(await log.state(id)).toMatchObject({ state: 'DELIVERED' });
  expect(deliverer.waiting).toBe(0);
});

test('an organization that fills its places in the queue of the installation mail leaves those of others', async () => {
  const log = await openLog();
  await log.add();
  const [row] = await log.pending();
  const givenUp: unknown[] = [];
  const { deliverer } = await deliver(log, async () => failed, {
    givenUp: (one) => givenUp.push(one),
  });
  const { waitingPerOrganizationMax: max } = delivererLimits;
  const waitingOf = (connectorId: string) =>
    Array.from({ length: max }, (_, i) =>
      waitingRecord(
        {
          ...row!,
          id: `${connectorId}-${i}`,
          sequence: 1_000 + i,
          connectorId,
          organizationId: 'hostile',
        },
        row!.place,
      ),
    );
  const refusal = (connectorId: string, organizationId: string) =>
    deliverer.refuse({ connectorId, organizationId, workspaceId: 'w' });
  expect(refusal(mailConnectorId, 'hostile')).toBeUndefined();
  deliverer.add(waitingOf(mailConnectorId));
  deliverer.add(waitingOf('c'));
  expect(refusal(mailConnectorId, 'hostile')).toContain(`no place left in the delivery queue`);
  expect(refusal(mailConnectorId, 'other')).toBeUndefined();
  expect(refusal('c', 'hostile')).toBeUndefined();
  expect(givenUp).toEqual([
    { connectorId: mailConnectorId, organizationId: 'hostile', workspaceId: 'w' },
  ]);
  expect(deliverer.waitingOf(mailConnectorId)).toBe(max);
});
