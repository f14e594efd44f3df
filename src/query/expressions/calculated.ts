// Calculated keys of a device type: checked, in the order in which they need each other (contract 38.1).
import { dayMs } from '../../model/instant.ts';
import type { CalculatedKey } from '../../model/device-type.ts';
import { type Expression, ExpressionError, parseExpression, type ValueSource } from './parse.ts';

const devicesMax = 10;

export interface CompiledKey {
  readonly topic: string;
  readonly key: string;
  readonly expression: Expression;
}

/** A calculated key that cannot be used: its place in the list, and why. */
export class CalculatedKeyError extends Error {
  override readonly name = 'CalculatedKeyError';
  readonly index: number;
  /** Characters before the error in the expression; undefined when it is not in one. */
  readonly position: number | undefined;

  constructor(index: number, message: string, position?: number) {
    super(message);
    this.index = index;
    this.position = position;
  }
}

/** Keys come after those that they read. Throws CalculatedKeyError. */
export function compileCalculatedKeys(keys: readonly CalculatedKey[]): CompiledKey[] {
  const compiled = keys.map((calculated, index) => compiledKey(calculated, index));
  const indexes = new Map<string, number>();
  for (const [index, { topic, key }] of compiled.entries()) {
    const name = nameOf(topic, key);
    if (indexes.has(name))
      throw new CalculatedKeyError(index, `key ${key} of topic ${topic} occurs twice`);
    indexes.set(name, index);
  }
  const ordered: CompiledKey[] = [];
  const states = new Map<number, 'open' | 'done'>();
  const visit = (index: number, usedBy: number, position: number): void => {
    const state = states.get(index);
    const one = compiled[index];
    if (state === 'done' || one === undefined) return;
    if (state === 'open')
      throw new CalculatedKeyError(usedBy, `key ${one.key} depends on itself`, position);
    states.set(index, 'open');
    for (const [i, input] of one.expression.inputs.entries()) {
      if (!('source' in input)) continue;
      const needed = indexes.get(sourceName(input.source, one.topic) ?? '');
      if (needed !== undefined) visit(needed, index, one.expression.positions[i] ?? 0);
    }
    states.set(index, 'done');
    ordered.push(one);
  };
  for (const index of compiled.keys()) visit(index, index, 0);
  return ordered;
}

function compiledKey(calculated: CalculatedKey, index: number): CompiledKey {
  const { key, topic } = calculated;
  try {
    const expression = parseExpression(calculated.expression);
    checkReach(expression, 'calculated keys');
    return { topic, key, expression };
  } catch (error) {
    if (!(error instanceof ExpressionError)) throw error;
    throw new CalculatedKeyError(index, error.message, error.position);
  }
}

/**
 * The other devices that a formula reads as samples arrive, each once. Throws ExpressionError when
 * it reads further back than a day, or too many devices.
 */
export function checkReach({ inputs, positions }: Expression, where: string): readonly string[] {
  const devices = new Set<string>();
  for (const [i, input] of inputs.entries()) {
    const position = positions[i] ?? 0;
    const reachMs = input.kind === 'window' ? input.windowMs : 0;
    const maxAgeMs = input.kind === 'last' ? input.maxAgeMs : 0;
    if (Math.max(reachMs, maxAgeMs) > dayMs)
      throw new ExpressionError(`windows of ${where} are at most PT24H`, position);
    if ('source' in input && input.source.deviceId !== null) devices.add(input.source.deviceId);
    if (devices.size > devicesMax)
      throw new ExpressionError(`at most ${devicesMax} other devices`, position);
  }
  return [...devices];
}

/** Undefined for a source of another device. */
function sourceName({ deviceId, topic, key }: ValueSource, own: string): string | undefined {
  return deviceId === null ? nameOf(topic ?? own, key) : undefined;
}

function nameOf(topic: string, key: string): string {
  return `${topic}\u0000${key}`;
}
