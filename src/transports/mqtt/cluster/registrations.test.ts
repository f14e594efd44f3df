// Registrations: every id is registered with its present owner, after moves, restarts and failures.
import { expect, test } from 'vitest';
import { partitionOf, type Place } from '../../../model/node-messages.ts';
import { Registrations } from './session-node.ts';

const nodeOf = (id: string) => ({ id, url: `http://${id}` });

function world() {
  const places = new Map<number, Place>();
  const memories = new Map<string, string>();
  const registered: string[][] = [];
  const failures: unknown[] = [];
  let failsNext = false;
  const registrations = new Registrations({
    messages: { node: nodeOf('this'), place: (partition) => places.get(partition) },
    memoryOf: (nodeId) => memories.get(nodeId),
    async register(ids) {
      if (failsNext) {
        failsNext = false;
        throw new Error('not reached');
      }
      registered.push([...ids].toSorted());
    },
    failed: (error) => void failures.push(error),
  });
  return {
    registrations,
    registered,
    failures,
    memories,
    own: (id: string, nodeId: string, epoch = 1) =>
      void places.set(partitionOf(id), { node: nodeOf(nodeId), epoch }),
    failNext: () => void (failsNext = true),
  };
}

test('nothing is registered again while the owner stays', async () => {
  const { registrations, registered, own } = world();
  own('a', 'other');
  registrations.add('a');
  await registrations.renew();
  expect(registered).toEqual([]);
  expect([...registrations.owners()]).toEqual([nodeOf('other')]);
});

test.each<[string, (one: ReturnType<typeof world>) => void]>([
  ['another owner', ({ own }) => own('a', 'third')],
  ['a later epoch', ({ own }) => own('a', 'other', 2)],
  ['an owner that has lost what it knew', ({ memories }) => void memories.set('other', 'new')],
])('%s gets the ids again, once', async (_, change) => {
  const one = world();
  one.own('a', 'other');
  one.registrations.add('a');
  change(one);
  await one.registrations.renew();
  await one.registrations.renew();
  expect(one.registered).toEqual([['a']]);
});

test('a failed registration is tried again', async () => {
  const one = world();
  one.own('a', 'other');
  one.registrations.add('a');
  one.own('a', 'third');
  one.failNext();
  await one.registrations.renew();
  expect(one.failures).toHaveLength(1);
  await one.registrations.renew();
  expect(one.registered).toEqual([['a']]);
});

test('partitions without an owner wait, and own ones need no registration', async () => {
  const { registrations, registered, own } = world();
  registrations.add('a');
  await registrations.renew();
  own('a', 'this');
  await registrations.renew();
  expect(registered).toEqual([]);
  own('a', 'other');
  await registrations.renew();
  expect(registered).toEqual([['a']]);
  registrations.remove('a');
  own('a', 'third');
  await registrations.renew();
  expect(registered).toEqual([['a']]);
  expect(registrations.size).toBe(0);
});
