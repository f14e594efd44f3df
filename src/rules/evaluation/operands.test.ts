// Formulas of rules: what is read for one sample serves the next ones, late samples read anew, and memory is shared by workspaces.
import { expect, test } from 'vitest';
import type { ValuesRequest } from '../../storage/samples/sample-store.ts';
import { Formulas, formulaValue, FormulaValues, isNeeded } from './operands.ts';
import type { RuleSample } from './rule-reading.ts';
import { UsualDays } from './usual-days.ts';

const usual = new UsualDays(
  async () => expect.fail('No formula asks what is usual'),
  () => 0,
  async () => undefined,
  () => undefined,
);

/** The store has the value `at` at every second. */
function started(bytesMax?: number) {
  const reads: string[] = [];
  async function* values({ deviceId, keys, from, to, before }: ValuesRequest) {
    reads.push(`${deviceId} ${keys.join()} ${from}..${to}${before ? ' and before' : ''}`);
    const first = Math.ceil(from / 1_000) - Number(before);
    const count = Math.max(0, Math.ceil(to / 1_000) - first);
    const timestamps = Float64Array.from({ length: count }, (_, i) => (first + i) * 1_000);
    const numbers = timestamps.map((at) => at / 1_000);
    yield { timestamps, columns: [{ numbers, types: undefined, ids: undefined, texts: [] }] };
  }
  const formulas = new FormulaValues(
    values,
    async (id) => ({ workspaceId: id.startsWith('v') ? 'v' : 'w', fields: {} }),
    async () => () => 0,
    usual,
    bytesMax,
  );
  return { formulas, reads };
}

const sampleAt = (seconds: number, deviceId = 'd'): RuleSample => ({
  deviceId,
  topic: 'default',
  timestamp: seconds * 1_000,
  data: { t: seconds },
});

const formulaOf = (text: string) => new Formulas().of(text, 0);

test('values are read once for samples that follow each other, and anew for a late one', async () => {
  const { formulas, reads } = started();
  const formula = formulaOf('sumOver(t, "PT3S")');
  const valueOf = async (sample: RuleSample, until: number) => {
    await formulas.compute([{ formula, sample }], until * 1_000);
    return formulaValue(formula, sample);
  };
  expect(await valueOf(sampleAt(100), 110)).toBe(100 + 99 + 98);
  expect(await valueOf(sampleAt(105), 110)).toBe(105 + 104 + 103);
  expect(reads).toEqual(['d t 97000..110001 and before']);
  // The next one continues where the last one ended.
  formulas.stored('d', 111_000);
  expect(await valueOf(sampleAt(111), 111)).toBe(111 + 110 + 109);
  expect(reads.slice(1)).toEqual(['d t 110001..111001']);
  // A late one may have changed what was read.
  formulas.stored('d', 90_000);
  expect(await valueOf(sampleAt(90), 90)).toBe(90 + 89 + 88);
  expect(reads.slice(2)).toEqual(['d t 87000..90001 and before']);
  // Far later samples do not read what is between.
  formulas.stored('d', 5_000_000);
  expect(await valueOf(sampleAt(5_000), 5_000)).toBe(5_000 + 4_999 + 4_998);
  expect(reads.slice(3)).toEqual(['d t 4997000..5000001 and before']);
});

test('a formula of the sample alone reads nothing; others have to be computed first', async () => {
  const { formulas, reads } = started();
  const sample = sampleAt(7);
  expect(formulaValue(formulaOf('t * 2 + timestamp'), sample)).toBe(7_014);
  const formula = formulaOf('t - prev(t)');
  expect(() => formulaValue(formula, sample)).toThrow('t - prev(t) was not computed');
  expect(isNeeded({ formula, sample })).toBe(true);
  await formulas.compute([{ formula, sample }], 7_000);
  expect(isNeeded({ formula, sample })).toBe(false);
  expect(formulaValue(formula, sample)).toBe(1);
  expect(reads).toHaveLength(1);
});

test('the workspace that holds most makes room for another', async () => {
  const { formulas, reads } = started(40_000);
  const formula = formulaOf('sumOver(t, "PT10S")');
  const ask = (id: string, seconds: number) =>
    formulas.compute([{ formula, sample: sampleAt(seconds, id) }], seconds * 1_000);
  await ask('v1', 100);
  for (let i = 0; i < 60; i++) await ask(`d${i}`, 100);
  reads.length = 0;
  await ask('v1', 101);
  expect(reads).toEqual(['v1 t 100001..101001']);
  await ask('d0', 101);
  expect(reads.slice(1)).toEqual(['d0 t 91000..101001 and before']);
});
