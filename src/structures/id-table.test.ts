// Id tables agree with a plain map for ids of every form, while they grow and ids are removed.
import { expect, test } from 'vitest';
import { IdMap, IdTable } from './hash-tables.ts';

const forms: readonly ((n: number) => string)[] = [
  (n) => String(2_000_000_000_000_000 + n),
  (n) => n.toString(16).padStart(16, '0'),
  (n) => `${n.toString(16).padStart(8, '0')}00000000`,
  (n) => `ABCDEF${String(n).padStart(10, '0')}`,
  (n) => `\u0130${String(n).padStart(15, '0')}`,
  (n) => `device ${n}`,
];

test('property: a table answers as a map while ids are set, set again and removed', () => {
  const table = new IdTable();
  const values = new IdMap<string>();
  const map = new Map<string, number>();
  let state = 7;
  const below = (limit: number): number => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * limit);
  };
  for (let turn = 0; turn < 60_000; turn++) {
    const id = forms[below(forms.length)]!(below(4_000));
    if (below(4) === 0) {
      table.remove(id);
      values.delete(id);
      map.delete(id);
    } else {
      table.set(id, turn);
      values.set(id, `value ${turn}`);
      map.set(id, turn);
    }
    const asked = forms[below(forms.length)]!(below(4_000));
    if (table.get(asked) !== map.get(asked)) expect(table.get(asked), asked).toBe(map.get(asked));
  }
  for (const form of forms)
    for (let n = 0; n < 4_000; n++)
      if (table.get(form(n)) !== map.get(form(n))) expect.fail(`${form(n)} differs`);
  for (const [id, turn] of map)
    if (values.get(id) !== `value ${turn}`) expect.fail(`the value of ${id} differs`);
  expect(map.size).toBeGreaterThan(10_000);
});
