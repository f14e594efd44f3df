// Functions of expressions: the table of names, arities, and what each computes (contract 38.1).
import { dayMs } from '../../model/instant.ts';

/** Of a value: `number`, `boolean`, `string`, or `any` where the data decides. */
export type ValueType = 'number' | 'boolean' | 'string' | 'any';

/** Computes with numbers; booleans are 0 and 1, and null is NaN. */
type Apply = (...values: number[]) => number;

export interface ExpressionFunction {
  readonly name: string;
  /** Least and most arguments. */
  readonly arity: readonly [number, number];
  readonly result: 'number' | 'boolean';
  /**
   * Never gets NaN, since null in is null out; what is not finite is null. Results of booleans are
   * 1 and 0.
   */
  readonly apply: Apply;
  /** The argument is a moment, which `apply` gets in the local time of the zone. */
  readonly local?: true;
  /** `apply` gets NaN too. */
  readonly takesNull?: true;
}

const any = 200;
const kelvin = 273.15;

/** Magnus formula over water: the logarithm of the saturation pressure by that at 0 degrees Celsius. */
const magnus = (celsius: number) => (17.62 * celsius) / (243.12 + celsius);

/** Half away from zero, as spreadsheets round. */
function rounded(value: number, digits = 0): number {
  const factor = 10 ** Math.trunc(digits);
  const scaled = Math.abs(value) * factor;
  if (!Number.isFinite(scaled)) return value;
  // The product of 1.005 and 100 is just below a half.
  const whole = Math.round(digits > 0 ? scaled * (1 + Number.EPSILON) : scaled);
  return (Math.sign(value) * whole) / factor;
}

function dewPoint(celsius: number, humidity: number): number {
  const gamma = Math.log(humidity / 100) + magnus(celsius);
  return (243.12 * gamma) / (17.62 - gamma);
}

/** Grams of water per cubic meter. */
function absoluteHumidity(celsius: number, humidity: number): number {
  const hectopascal = (humidity / 100) * 6.112 * Math.exp(magnus(celsius));
  return (216.7 * hectopascal) / (kelvin + celsius);
}

function scaled(value: number, fromLow: number, fromHigh: number, low: number, high: number) {
  return low + ((value - fromLow) * (high - low)) / (fromHigh - fromLow);
}

/** Monday is 1, Sunday 7. */
const weekday = (localMs: number) => ((((Math.floor(localMs / dayMs) + 3) % 7) + 7) % 7) + 1;

/** Called by name. */
export const functions: Readonly<Record<string, ExpressionFunction>> = byName([
  numeric('abs', [1, 1], Math.abs),
  numeric('min', [1, any], Math.min),
  numeric('max', [1, any], Math.max),
  numeric('round', [1, 2], rounded),
  numeric('floor', [1, 1], Math.floor),
  numeric('ceil', [1, 1], Math.ceil),
  numeric('sqrt', [1, 1], Math.sqrt),
  numeric('exp', [1, 1], Math.exp),
  numeric('ln', [1, 1], Math.log),
  numeric('log10', [1, 1], Math.log10),
  numeric('pow', [2, 2], Math.pow),
  numeric('clamp', [3, 3], (value, low, high) => Math.min(Math.max(value, low), high)),
  numeric('scale', [5, 5], scaled),
  numeric('dewPoint', [2, 2], dewPoint),
  numeric('absoluteHumidity', [2, 2], absoluteHumidity),
  local('hour', (localMs) => Math.floor((((localMs % dayMs) + dayMs) % dayMs) / 3_600_000)),
  local('weekday', weekday),
  local('month', (localMs) => new Date(localMs).getUTCMonth() + 1),
]);

/** By sign and number of operands, as `-2` for a difference and `-1` for a negation. */
export const operators: Readonly<Record<string, ExpressionFunction>> = byName([
  numeric('+2', [2, 2], (a, b) => a + b),
  numeric('-2', [2, 2], (a, b) => a - b),
  numeric('*2', [2, 2], (a, b) => a * b),
  numeric('/2', [2, 2], (a, b) => a / b),
  numeric('%2', [2, 2], (a, b) => a % b),
  numeric('**2', [2, 2], (a, b) => a ** b),
  numeric('+1', [1, 1], (a) => a),
  numeric('-1', [1, 1], (a) => -a),
  { ...numeric('!1', [1, 1], (a) => Number(a === 0)), result: 'boolean' },
  // One operand may decide alone, as in SQL: `false && null` is false.
  { name: '&&2', arity: [2, 2], result: 'boolean', takesNull: true, apply: both },
  { name: '||2', arity: [2, 2], result: 'boolean', takesNull: true, apply: either },
]);

function both(a: number, b: number): number {
  if (a === 0 || b === 0) return 0;
  return Number.isNaN(a) || Number.isNaN(b) ? Number.NaN : 1;
}

function either(a: number, b: number): number {
  if ((a !== 0 && !Number.isNaN(a)) || (b !== 0 && !Number.isNaN(b))) return 1;
  return Number.isNaN(a) || Number.isNaN(b) ? Number.NaN : 0;
}

function numeric(name: string, arity: readonly [number, number], apply: Apply): ExpressionFunction {
  return { name, arity, result: 'number', apply };
}

/** Of a moment, by default the time of the sample. */
function local(name: string, apply: Apply): ExpressionFunction {
  return { name, arity: [0, 1], result: 'number', apply, local: true };
}

function byName(rows: readonly ExpressionFunction[]): Record<string, ExpressionFunction> {
  return Object.fromEntries(rows.map((row) => [row.name, row]));
}
