// Deadlines fire in their second, wherever they are moved: the wheel against a plain list.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { Deadlines, type Dated } from './mqtt-limits.ts';

interface Item extends Dated {
  readonly name: number;
  /** When it should be visited; undefined for never. */
  due: number | undefined;
  /** Seconds to its next visit. */
  readonly again: number | undefined;
}

test('items are visited in their second and not before, whether they are moved, removed or return', () => {
  const step = fc.oneof(
    fc.record({ item: fc.nat(5), place: fc.nat(20) }),
    fc.record({ item: fc.nat(5), remove: fc.constant(true) }),
    fc.constant('tick' as const),
  );
  const periods = fc.array(fc.option(fc.nat(4), { nil: undefined }), {
    minLength: 6,
    maxLength: 6,
  });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 100 }), periods, (steps, again) => {
      const items = again.map(
        (each, name): Item => ({ name, again: each, due: undefined, deadline: undefined }),
      );
      const visited: number[] = [];
      const wheel = new Deadlines<Item>((item, now) => {
        expect(item.due).toBe(now);
        visited.push(item.name);
        item.due = item.again === undefined ? undefined : now + Math.max(1, item.again);
        return item.again === undefined ? undefined : now + item.again;
      });
      for (const one of steps) {
        if (one === 'tick') {
          const due = items.filter((item) => item.due === wheel.now + 1).map(({ name }) => name);
          visited.length = 0;
          wheel.tick();
          expect(visited.toSorted()).toEqual(due);
        } else if ('place' in one) {
          const item = items[one.item]!;
          item.due = Math.max(one.place, wheel.now + 1);
          wheel.place(item, one.place);
        } else {
          items[one.item]!.due = undefined;
          wheel.remove(items[one.item]!);
        }
      }
    }),
  );
});
