// Flow control: connections wait at the limits and are read again in the order in which they came.
import { expect, test } from 'vitest';
import { FlowControl, type Flowing } from './mqtt-flow-control.ts';

interface Connection extends Flowing {
  readonly name: string;
}

function flow(changed: Partial<Record<'inFlightMax' | 'inFlightBytesMax', number>> = {}) {
  const readAgain: string[] = [];
  const gaveWay: string[] = [];
  const limits = {
    inFlightMax: 4,
    inFlightBytesMax: 1_000,
    inFlightPerClientMax: 2,
    partialBytesMax: 100,
    ...changed,
  };
  const events = {
    readOn: ({ name }: Connection) => void readAgain.push(name),
    giveWay: ({ name }: Connection) => void gaveWay.push(name),
  };
  const control = new FlowControl<Connection>(events, limits);
  const connection = (name: string, owner: string): Connection => ({
    name,
    owner,
    inFlight: 0,
    inFlightBytes: 0,
  });
  const [a, b, c] = [connection('a', 'A'), connection('b', 'A'), connection('c', 'A')];
  return { control, readAgain, gaveWay, a, b, c, foreign: connection('foreign', 'B') };
}

test('a connection at its own limit is read again below it', () => {
  const { control, readAgain, a, b } = flow();
  control.add(a, 1);
  expect(control.mayRead(a)).toBe(true);
  control.add(a, 1);
  expect([control.mayRead(a), control.mayRead(b)]).toEqual([false, true]);
  control.remove(a, 1);
  expect([readAgain, control.mayRead(a)]).toEqual([['a'], true]);
});

test.each([
  ['number', {}, 1],
  ['bytes', { inFlightMax: 99, inFlightBytesMax: 40 }, 10],
])(
  'at three quarters of all, by %s, connections of one organization wait in order',
  (_what, limits, bytes) => {
    const { control, readAgain, a, b, c } = flow(limits);
    for (const one of [a, a, b]) control.add(one, bytes);
    expect([control.mayRead(c), control.mayRead(b), control.inFlight]).toEqual([false, false, 3]);
    control.leave(c);
    control.remove(b, bytes);
    expect([readAgain, control.mayRead(b)]).toEqual([['b'], true]);
  },
);

test('security 2: publishes in flight of one organization leave room for those of others', () => {
  const { control, a, b, foreign } = flow();
  for (const one of [a, a, b]) control.add(one, 1);
  expect([control.mayRead(b), control.mayRead(foreign)]).toEqual([false, true]);
});

test('security 2: of partial packets, those of the organization that holds most give way, the oldest first', () => {
  const { control, gaveWay, a, b, c, foreign } = flow();
  expect([control.hold(a, 40), control.hold(b, 40), control.hold(foreign, 20)]).toEqual([
    true,
    true,
    true,
  ]);
  expect([control.hold(foreign, 40), gaveWay]).toEqual([true, ['a']]);
  // What would be too much of its own ends that of its own that is oldest.
  expect([control.hold(c, 30), gaveWay]).toEqual([true, ['a', 'b']]);
  expect(control.hold(c, 101)).toBe(false);
  control.leave(foreign);
  expect([control.hold(a, 100), gaveWay]).toEqual([true, ['a', 'b']]);
});

test('a stop reads nothing more and waits for what is in flight', async () => {
  const { control, readAgain, a } = flow();
  control.add(a, 1);
  let isClosed = false;
  const closing = control.close().then(() => {
    isClosed = true;
  });
  expect([control.mayRead(a), isClosed]).toEqual([false, false]);
  control.remove(a, 1);
  await closing;
  expect(readAgain).toEqual([]);
});
