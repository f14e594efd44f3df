// Cost of expressions: nanoseconds a row in columns and by row, and the ratio to a function in JavaScript of the same run.
import { columnFunction, rowFunction, type Vector } from '../src/query/expressions/evaluate.ts';
import { parseExpression } from '../src/query/expressions/parse.ts';
import { ValueWindow } from '../src/query/expressions/windows.ts';

const length = 8_192;
const rounds = 60;
const utc = () => 0;

type ByHand = (t: number, rh: number) => number | null;

const finite = (value: number): number | null => (Number.isFinite(value) ? value : null);

const formulas: readonly (readonly [string, ByHand])[] = [
  ['t * 9 / 5 + 32', (t) => finite((t * 9) / 5 + 32)],
  ['t > 8 ? t - 8 : 0', (t) => (t > 8 ? finite(t - 8) : 0)],
  ['max(t, rh, 12) - min(t, rh)', (t, rh) => finite(Math.max(t, rh, 12) - Math.min(t, rh))],
  [
    'dewPoint(t, rh)',
    (t, rh) => {
      const gamma = Math.log(rh / 100) + (17.62 * t) / (243.12 + t);
      return finite((243.12 * gamma) / (17.62 - gamma));
    },
  ],
];

const t = Float64Array.from({ length }, (_, i) => 20 + 10 * Math.sin(i / 50));
const rh = Float64Array.from({ length }, (_, i) => 50 + 30 * Math.cos(i / 70));
const vectorOf = (values: Float64Array): Vector => ({ kind: 'number', values, texts: [] });
const out = new Float64Array(length);

/** The best of many rounds, in nanoseconds a row. */
function nsPerRow(work: () => void): number {
  let best = Number.POSITIVE_INFINITY;
  for (let round = 0; round < rounds; round++) {
    const startedAt = performance.now();
    work();
    best = Math.min(best, performance.now() - startedAt);
  }
  return (best * 1e6) / length;
}

console.log(
  'formula'.padEnd(32),
  'by hand',
  ' columns',
  '  ratio',
  '     row',
  '  ratio',
  ' compile',
);
for (const [text, byHand] of formulas) {
  const expression = parseExpression(text);
  const names = expression.inputs.map((input) => (input.kind === 'key' ? input.source.key : ''));
  const vectors = names.map((name) => vectorOf(name === 't' ? t : rh));
  const columns = columnFunction(expression, utc);
  const row = rowFunction(expression, utc);
  const hand = nsPerRow(() => {
    for (let i = 0; i < length; i++) out[i] = byHand(t[i] ?? 0, rh[i] ?? 0) ?? Number.NaN;
  });
  const inColumns = nsPerRow(() => void columns(vectors, length));
  const byRow = nsPerRow(() => {
    for (let i = 0; i < length; i++) {
      const value = row(names.map((name) => (name === 't' ? (t[i] ?? 0) : (rh[i] ?? 0))));
      out[i] = typeof value === 'number' ? value : Number.NaN;
    }
  });
  const compiled = nsPerRow(() => {
    for (let i = 0; i < 20; i++) rowFunction(parseExpression(text), utc);
  });
  console.log(
    text.padEnd(32),
    ...[hand, inColumns].map((ns) => `${ns.toFixed(1)} ns`.padStart(8)),
    `${(inColumns / hand).toFixed(1)}x`.padStart(6),
    `${byRow.toFixed(1)} ns`.padStart(8),
    `${(byRow / hand).toFixed(1)}x`.padStart(6),
    `${((compiled * length) / 20 / 1_000).toFixed(0)} us`.padStart(7),
  );
}

for (const fold of ['avg', 'max', 'stddev'] as const) {
  const ns = nsPerRow(() => {
    const window = new ValueWindow({ fold, windowMs: 60 * 60_000, perMs: 1_000 });
    for (let i = 0; i < length; i++) {
      window.add(i * 60_000, t[i] ?? 0);
      out[i] = window.at(i * 60_000);
    }
  });
  console.log(`${fold}Over(t, "PT1H"), 60 values`.padEnd(32), `${ns.toFixed(1)} ns a row`);
}
