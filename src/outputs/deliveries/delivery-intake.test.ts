// Delivery intake: what holds the journal, what gets a record, and what is not made twice.
import { afterEach, beforeEach, expect, test } from 'vitest';
import { openTestLog, type TestLog, testFolder } from '../../storage/delivery-log/testing-log.ts';
import type { WaitingDelivery } from './attempts/waiting-delivery.ts';
import { type DeliveryDraft, sequenceAt } from '../../model/delivery.ts';
import { DeliveryIntake, intakeLimits } from './delivery-intake.ts';

const draftOf = (position: number, index = 0, connectorId = 'c'): DeliveryDraft => ({
  idempotencyKey: `${position} ${index} ${connectorId}`,
  connectorId,
  organizationId: 'o',
  workspaceId: 'w',
  deviceId: 'd',
  correlationId: `${position}`,
  cause: 'DATA_FLOW',
  context: { data: { position } },
  sequence: sequenceAt(position, index),
});

const folder = testFolder();
let opened: TestLog;
let added: WaitingDelivery[];
let clock: number;
let known: Set<string>;
let intake: DeliveryIntake;

beforeEach(async () => {
  opened = await openTestLog(folder.directory);
  added = [];
  clock = 5;
  known = new Set();
  intake = new DeliveryIntake({
    log: opened.log,
    deliverer: {
      refuse: ({ connectorId }) => (connectorId === 'crowded' ? 'the queue is full' : undefined),
      add: (waiting) => void added.push(...waiting),
    },
    now: () => clock,
    from: 10,
    known,
    knownTo: 20,
  });
});
afterEach(async () => {
  await opened.log.close();
  folder.remove();
});

const records = async (connectorId = 'c') =>
  [...(await opened.log.recover(0)).pending].filter((row) => row.connectorId === connectorId);

test('a delivery waits in the memory and holds its journal entry until it has a record', async () => {
  await intake.add([draftOf(11), draftOf(11, 1), draftOf(12)]);
  intake.followed(15);
  expect(added.map(({ draft, nextAt }) => [draft?.context.data, nextAt])).toEqual([
    [{ position: 11 }, 5],
    [{ position: 11 }, 5],
    [{ position: 12 }, 5],
  ]);
  expect([intake.heldTo, (await records()).length]).toEqual([11, 0]);
  intake.release(added[0]!);
  expect(intake.heldTo).toBe(11);
  intake.release(added[1]!);
  expect(intake.heldTo).toBe(12);
  intake.release(added[2]!);
  expect(intake.heldTo).toBe(15);
});

test('one that has waited for 10 s gets a record and holds the journal no longer', async () => {
  await intake.add([draftOf(11)]);
  clock += intakeLimits.heldMsMax - 1;
  await intake.add([draftOf(12)]);
  clock += 1;
  intake.park('old');
  expect(intake.heldTo).toBe(12);
  const [row] = await records();
  expect(row).toMatchObject({ id: added[0]!.id, state: 'PENDING', revision: 0, created: 5 });
  expect(await opened.log.read(added[0]!.place!)).toMatchObject({
    context: JSON.stringify({ data: { position: 11 } }),
  });
  expect([added[0]!.draft, added[0]!.revision, added[1]!.draft === undefined]).toEqual([
    undefined,
    1,
    false,
  ]);
  intake.park('all');
  expect([await records(), intake.heldTo]).toEqual([expect.objectContaining({ length: 2 }), 10]);
});

test('reliability 1: a clock that steps back holds the journal no longer', async () => {
  await intake.add([draftOf(11)]);
  clock -= 86_400_000;
  intake.park('old');
  expect([intake.heldTo, (await records()).length]).toEqual([10, 1]);
});

test('no more than 4,000 are in the memory, and at most 64 MiB', async () => {
  const many = Array.from({ length: intakeLimits.heldMax + 3 }, (_, i) => draftOf(11 + i));
  await intake.add(many);
  expect([intake.heldTo, (await records()).length]).toEqual([14, 3]);
  const bytes = intakeLimits.heldBytesMax;
  await intake.add([
    { ...draftOf(20_000), bytes },
    { ...draftOf(20_001), bytes },
  ]);
  expect(intake.heldTo).toBe(20_001);
});

test('entries that are repeated after a failure or a start become one delivery', async () => {
  const twice = [draftOf(11), draftOf(11, 0, 'other'), draftOf(12)];
  await intake.add(twice.slice(0, 1));
  await intake.add(twice);
  expect(added.map(({ connectorId, sequence }) => [connectorId, sequence])).toEqual([
    ['c', 11],
    ['other', 11],
    ['c', 12],
  ]);
  const { id } = added[2]!;
  known.add(id);
  const again = new DeliveryIntake({
    log: opened.log,
    deliverer: { refuse: () => undefined, add: (waiting) => void added.push(...waiting) },
    now: () => clock,
    from: 11,
    known,
    knownTo: 13,
  });
  added = [];
  await again.add(twice);
  expect(added.map(({ sequence }) => sequence)).toEqual([11, 11]);
  again.followed(13);
  expect(known.size).toBe(0);
});

test('a delivery that has no place in the queue is dead immediately', async () => {
  await intake.add([draftOf(11, 0, 'crowded'), draftOf(12)]);
  const [dead] = (await opened.log.endedOf('crowded')).values();
  expect(dead?.state).toBe('DEAD');
  expect(await opened.log.read(dead!.place)).toMatchObject({
    reason: 'the queue is full',
  });
  expect(added.map(({ connectorId }) => connectorId)).toEqual(['c']);
});
