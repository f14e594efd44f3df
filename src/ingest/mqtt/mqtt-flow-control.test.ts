// Flow control: connections wait at the limits and are read again in the order in which they came.
import { expect, test } from 'vitest';
import { createFlowControl, type Flowing } from './mqtt-flow-control.ts';

interface Connection extends Flowing {
  readonly name: string;
}

function flow(changed: Partial<Record<'inFlightMax' | 'inFlightBytesMax', number>> = {}) {
  const readAgain: string[] = [];
  const limits = {
    inFlightMax: 3,
    inFlightBytesMax: 1_000,
    inFlightPerClientMax: 2,
    partialBytesMax: 100,
    ...changed,
  };
  const control = createFlowControl<Connection>(({ name }) => void readAgain.push(name), limits);
  const [a, b, c] = ['a', 'b', 'c'].map((name) => ({ name, inFlight: 0, heldBytes: 0 })) as [
    Connection,
    Connection,
    Connection,
  ];
  return { control, readAgain, a, b, c };
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
  ['bytes', { inFlightMax: 99, inFlightBytesMax: 30 }, 10],
])('at the limit of all, by %s, connections wait in order', (_what, limits, bytes) => {
  const { control, readAgain, a, b, c } = flow(limits);
  for (const one of [a, a, b]) control.add(one, bytes);
  expect([control.mayRead(c), control.mayRead(b), control.inFlight]).toEqual([false, false, 3]);
  control.leave(c);
  control.remove(b, bytes);
  expect([readAgain, control.mayRead(b)]).toEqual([['b'], true]);
});

test('partial packets of all connections are limited; who adds the byte too many is refused', () => {
  const { control, a, b } = flow();
  expect([control.hold(a, 60), control.hold(b, 40), control.hold(b, 41)]).toEqual([
    true,
    true,
    false,
  ]);
  control.leave(b);
  expect([a.heldBytes, b.heldBytes, control.hold(a, 100)]).toEqual([60, 0, true]);
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
