// Formulas of rules against queries: of random streams each sample gets what a query of that moment answers (contract 38).
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { parseExpression, type Value } from '../../src/query/expressions/parse.ts';
import type { Sample } from '../../src/model/sample.ts';
import { ExpressionReads } from '../../src/query/expression-reads.ts';
import { columnValueAt } from '../../src/query/summaries/ordered-values.ts';
import { Formulas, formulaValue, FormulaValues } from '../../src/rules/evaluation/operands.ts';
import { UsualDays } from '../../src/rules/evaluation/usual-days.ts';
import { entryOf } from '../../src/storage/samples/conformance/sample-entries.ts';
import { openTestSamples } from '../../src/storage/samples/testing-samples.ts';

/** FORMULA_STREAMS=1000 compares more. */
const streams = Number(process.env['FORMULA_STREAMS'] ?? 15);

const texts = [
  't * 2',
  't - prev(t)',
  'avgOver(t, "PT10S")',
  'countOver(t, "PT5S") + countOver(key("power", "side"), "PT5S")',
  'stddevOver(t, "PT20S")',
  'minOver(t, "PT7S") < maxOver(t, "PT3S")',
  'last(text, "PT3S") == "on" ? change(t, "PT30S") : rate(t, "PT30S", "PT1M")',
  'last(t, "PT6S") ?? field("base")',
  'device("other", "t") + hour()',
];

function seeded(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 4_294_967_296;
  };
}

test('each sample gets what a query of that moment answers', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'heliograph-formulas-'));
  const store = await openTestSamples({ directory, now: () => 1 });
  const offsetAt = () => 3_600_000;
  const fields = { base: 7 };
  const usual = new UsualDays(
    async () => expect.fail('No formula asks what is usual'),
    () => 0,
    async () => undefined,
    () => undefined,
  );
  const formulas = new Formulas();
  const all = texts.map((text) => formulas.of(text, 0));
  const others = new Set<Value>();
  try {
    for (let stream = 1; stream <= streams; stream++) {
      const random = seeded(stream);
      const deviceId = `d${stream}`;
      const values = new FormulaValues(
        (request) => store.values(request),
        async () => ({ workspaceId: 'w', fields }),
        async () => offsetAt,
        usual,
      );
      const reads = new ExpressionReads(
        store,
        new Map(texts.map((text) => [text, parseExpression(text)])),
        () => ({ offsetAt, fields }),
      );
      let now = 1_700_000_000_000 + stream * 86_400_000;
      const seen = new Set<number>();
      for (let entry = 0; entry < 40; entry++) {
        const samples: Sample[] = [];
        const count = 1 + Math.floor(random() * 4);
        for (let i = 0; i < count; i++) {
          // Some are late, and none has the time of another: a query has one answer for an instant.
          let at = random() < 0.15 ? now - Math.floor(random() * 20_000) : now;
          while (seen.has(at)) at += 1;
          seen.add(at);
          now = Math.max(now, at) + Math.floor(random() * 4_000);
          const isSide = random() < 0.25;
          const data: Record<string, number | string> = { n: i };
          if (isSide) data['power'] = Math.round(random() * 100);
          else {
            if (random() < 0.8) data['t'] = Math.round(random() * 1_000) / 10;
            if (random() < 0.3) data['text'] = random() < 0.5 ? 'on' : 'off';
          }
          samples.push({ deviceId, topic: isSide ? 'side' : 'default', timestamp: at, data });
        }
        const rows = samples.map(({ topic, timestamp: at, data }) => ({ topic, at, data }));
        await store.append(entryOf(deviceId, rows));
        if (random() < 0.4)
          await store.append(
            entryOf('other', [{ topic: 'default', at: now, data: { t: random() } }]),
          );
        const ordered = samples.toSorted((a, b) => a.timestamp - b.timestamp);
        values.stored(deviceId, ordered[0]?.timestamp ?? 0);
        for (const sample of ordered) {
          await values.compute(
            all.filter(({ isOfSample }) => !isOfSample).map((formula) => ({ formula, sample })),
            ordered.at(-1)?.timestamp ?? 0,
          );
          for (const formula of all) {
            const { topic, timestamp } = sample;
            let expected: unknown = null;
            for await (const { timestamps, columns } of reads.values({
              deviceId,
              topic,
              keys: [formula.text],
              from: timestamp,
              to: timestamp + 1,
              before: false,
              after: false,
            }))
              expected = columnValueAt(columns[0]!, timestamps.length - 1);
            const computed = formulaValue(formula, sample);
            others.add(computed);
            if (typeof expected === 'number')
              expect(computed, formula.text).toBeCloseTo(expected, 9);
            else expect(computed, formula.text).toBe(expected);
          }
        }
      }
    }
    expect(others.size).toBeGreaterThan(streams * 50);
  } finally {
    await store.close();
    rmSync(directory, { recursive: true, force: true });
  }
});
