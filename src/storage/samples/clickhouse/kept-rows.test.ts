// Kept rows: what is kept of a device is what ClickHouse has of it, within limits of memory and time.
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { ShapeInterner, LeafValues } from '../../log/data-shape.ts';
import { type KeptLimits, KeptRows, type LoadedRows, type LoadRequest } from './kept-rows.ts';
import { type OpenPlace, type OpenRow, placeOf } from './open-rows.ts';
import { compareRows } from './sample-tables.ts';

const journal = 1;
const shapes = new ShapeInterner();
let positions = 0;

function row(deviceId: string, timestamp: number, data = { v: timestamp }): OpenRow {
  const values = new LeafValues();
  const shape = shapes.shapeOf(data, values, undefined);
  const place = { deviceId, topic: 't', timestamp, storedAt: 0, position: ++positions, index: 0 };
  return {
    ...place,
    workspaceId: 'w',
    dataFlowId: null,
    meta: undefined,
    shape,
    values,
    valuesAt: 0,
  };
}

/** ClickHouse, whose answers can be held. */
function start(limits: Partial<KeptLimits> = {}) {
  const stored: OpenPlace[] = [];
  const clock = { now: 0, changes: 0 };
  const requests: LoadRequest[] = [];
  let gate: Promise<void> = Promise.resolve();
  let open = (): void => undefined;
  const load = async (request: LoadRequest): Promise<LoadedRows> => {
    requests.push(request);
    const { deviceId, from = -Infinity, rowsMax } = request;
    // As of the turn in which it was asked.
    const all = stored
      .filter((place) => place.row.deviceId === deviceId && place.ts >= from)
      .toSorted(compareRows);
    await gate;
    const places = all.slice(-rowsMax);
    return { places, characters: places.length * 10, isCut: all.length > rowsMax };
  };
  const kept = new KeptRows(
    load,
    journal,
    () => clock.now,
    () => clock.changes,
    limits,
  );
  return {
    kept,
    clock,
    requests,
    ship(...rows: readonly OpenRow[]): void {
      for (const one of rows) stored.push(placeOf(one, journal));
      kept.shipped({ rows: [...rows] });
    },
    holdAnswers(): void {
      gate = new Promise((resolve) => (open = resolve));
    },
    answer: (): void => open(),
    of: (deviceId: string) => {
      const found = kept.of(deviceId);
      return found && { from: found.from, times: found.places.map(({ ts }) => ts) };
    },
    async ask(deviceId: string, from: number | undefined, rows = 0): Promise<void> {
      for (let i = 0; i < 2; i++) kept.missed(deviceId, { from, rows });
      await kept.settled();
    },
  };
}

describe('a device', () => {
  test('is loaded when it is asked for again within a minute', async () => {
    const { kept, clock, requests, ship, of } = start();
    ship(row('d', 5));
    kept.missed('d', { from: 0, rows: 0 });
    clock.now = 60_001;
    kept.missed('d', { from: 0, rows: 0 });
    await kept.settled();
    expect([requests.length, of('d')]).toEqual([0, undefined]);
    clock.now = 120_000;
    kept.missed('d', { from: 0, rows: 0 });
    await kept.settled();
    expect(of('d')).toEqual({ from: 0, times: [5] });
  });

  test('has what is shipped while it is loaded, and afterwards, in the order of reading', async () => {
    const { kept, ship, of, holdAnswers, answer, ask } = start();
    ship(row('d', 5), row('other', 6));
    holdAnswers();
    const asked = ask('d', 0);
    ship(row('d', 7), row('d', 3));
    answer();
    await asked;
    ship(row('d', 4), row('d', -1));
    expect(of('d')).toEqual({ from: 0, times: [3, 4, 5, 7] });
    kept.drop('d');
    expect(of('d')).toBeUndefined();
  });

  test.each<readonly [string, (on: ReturnType<typeof start>) => void]>([
    ['was dropped', ({ kept }) => kept.drop('d')],
    ['moved', ({ kept }) => kept.clear()],
    ['may have rows of another node', ({ clock }) => (clock.changes += 1)],
  ])('that %s while it was loaded is not kept', async (_, happen) => {
    const on = start();
    on.ship(row('d', 5));
    on.holdAnswers();
    const asked = on.ask('d', 0);
    happen(on);
    on.answer();
    await asked;
    expect(on.of('d')).toBeUndefined();
  });

  test('is discarded when another node may have shipped rows of it', async () => {
    const { clock, ship, of, ask } = start();
    ship(row('d', 5));
    await ask('d', 0);
    clock.changes += 1;
    expect(of('d')).toBeUndefined();
  });

  test('is loaded again while it is asked for, and not used when that was too long ago', async () => {
    const { kept, clock, requests, ship, of, ask } = start();
    ship(row('d', 5));
    await ask('d', 0);
    clock.now += 30_001;
    expect(of('d')).toBeDefined();
    await kept.settled();
    clock.now += 30_001;
    expect(of('d')).toBeDefined();
    await kept.settled();
    expect(requests).toHaveLength(3);
    clock.now += 60_001;
    expect(of('d')).toBeUndefined();
  });

  test('with more rows than the limit has the newest ones, of whole instants', async () => {
    const { ship, of, ask, requests } = start({ rowsOfDeviceMax: 4 });
    ship(...[1, 2, 3, 3, 4, 5].map((at) => row('d', at)));
    await ask('d', 0);
    expect(of('d')).toEqual({ from: 4, times: [4, 5] });
    ship(row('d', 6), row('d', 7));
    expect(of('d')).toEqual({ from: 4, times: [4, 5, 6, 7] });
    ship(row('d', 8));
    expect(of('d')).toEqual({ from: 8, times: [8] });
    await ask('d', 0);
    await ask('d', -1);
    expect(requests).toHaveLength(1);
  });

  test('is loaded with more rows when a read needs more', async () => {
    const { ship, of, ask, requests } = start({ newestRows: 2 });
    ship(...[1, 2, 3, 4, 5].map((at) => row('d', at)));
    await ask('d', undefined, 1);
    expect(of('d')).toEqual({ from: 5, times: [5] });
    await ask('d', undefined, 3);
    expect(of('d')).toEqual({ from: 4, times: [4, 5] });
    await ask('d', 2);
    expect(of('d')).toEqual({ from: -Infinity, times: [1, 2, 3, 4, 5] });
    expect(requests.map(({ from, rowsMax }) => [from, rowsMax])).toEqual([
      [undefined, 2],
      [undefined, 3],
      [undefined, 10_000],
    ]);
  });

  test('that failed to load is asked of ClickHouse', async () => {
    const away = () => Promise.reject(new Error('away'));
    const kept = new KeptRows(
      away,
      journal,
      () => 0,
      () => 0,
    );
    for (let i = 0; i < 2; i++) kept.missed('d', { from: 0, rows: 0 });
    await kept.settled();
    expect(kept.of('d')).toBeUndefined();
  });
});

describe('limits', () => {
  test('the device that was not asked for the longest is discarded', async () => {
    const { ship, of, ask } = start({ rowsMax: 5 });
    for (const id of ['a', 'b', 'c']) ship(row(id, 1), row(id, 2));
    await ask('a', 0);
    await ask('b', 0);
    of('a');
    await ask('c', 0);
    expect(['a', 'b', 'c'].filter((id) => of(id) !== undefined)).toEqual(['a', 'c']);
    ship(row('c', 3), row('c', 4));
    expect(['a', 'b', 'c'].filter((id) => of(id) !== undefined)).toEqual(['c']);
  });

  test('large rows count by their characters', async () => {
    const { ship, of, ask } = start({ charactersMax: 1_000, charactersOfDeviceMax: 500 });
    ship(row('a', 1), row('b', 1));
    await ask('a', 0);
    await ask('b', 0);
    const large = (id: string, at: number) => row(id, at, { v: 'x'.repeat(400) } as never);
    ship(large('a', 2), large('b', 2));
    expect([of('a')?.times, of('b')?.times]).toEqual([
      [1, 2],
      [1, 2],
    ]);
    ship(large('b', 3));
    expect(of('b')).toEqual({ from: 4, times: [] });
  });
});

test('property: what is kept is what was stored from a time on, regardless of what happens in between', async () => {
  const times = fc.integer({ min: 0, max: 30 });
  const steps = fc.oneof(
    fc.record({ kind: fc.constant('ship'), at: fc.array(times, { maxLength: 6 }) }),
    fc.record({ kind: fc.constant('ask'), from: fc.option(times, { nil: undefined }) }),
    fc.record({ kind: fc.constant('age'), ms: fc.integer({ min: 0, max: 40_000 }) }),
    fc.record({ kind: fc.constant('wait') }),
    fc.record({ kind: fc.constant('change') }),
  );
  await fc.assert(
    fc.asyncProperty(fc.array(steps, { maxLength: 40 }), async (all) => {
      const on = start({ rowsOfDeviceMax: 12, newestRows: 5 });
      const stored: number[] = [];
      for (const step of all) {
        if (step.kind === 'ship' && 'at' in step) {
          stored.push(...step.at);
          on.ship(...step.at.map((at) => row('d', at)));
        }
        if (step.kind === 'ask' && 'from' in step)
          on.kept.missed('d', { from: step.from, rows: 3 });
        if (step.kind === 'age' && 'ms' in step) on.clock.now += step.ms;
        if (step.kind === 'wait') await on.kept.settled();
        if (step.kind === 'change') on.clock.changes += 1;
        const found = on.of('d');
        if (found === undefined) continue;
        const expected = stored.filter((at) => at >= found.from).toSorted((a, b) => a - b);
        expect(found.times).toEqual(expected);
      }
    }),
    { numRuns: 2000 },
  );
});
