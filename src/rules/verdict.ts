// Verdict evaluation: the conditions of a rule that a reading makes true, and the actions that fire.
import { isInside } from '../model/geo-fence.ts';
import { converted } from '../model/rule-value.ts';
import type { CompiledLogic, CompiledRule } from './compiled-rule.ts';
import type { Firing, Verdict } from './firing.ts';
import { ownValue, type Reading } from './rule-reading.ts';

const nothing: readonly never[] = [];

/**
 * Evaluates a comparison or a geofence. `before`: the conditions of the last verdict for the
 * device; empty at first.
 */
export function evaluateRule(compiled: CompiledRule, reading: Reading, before: string): Verdict {
  const { logic, consecutive } = compiled;
  if (logic.type === 'COMPARISON') return evaluateBlocks(logic, consecutive, reading, before);
  if (logic.type === 'GEO_FENCE') return evaluateFence(compiled, logic, reading, before);
  throw new Error('Custom logic is evaluated by its script');
}

function evaluateBlocks(
  logic: Extract<CompiledLogic, { type: 'COMPARISON' }>,
  consecutive: ReadonlyMap<string, boolean>,
  reading: Reading,
  before: string,
): Verdict {
  const { blocks, absent } = logic;
  let holds = '';
  let firings: Firing[] | undefined;
  let missing: string[] | undefined;
  let suppressed = false;
  for (const { test, actionIds } of blocks) {
    const i = holds.length;
    const isTrue = test(reading, absent);
    if (absent.length > 0) {
      for (const condition of absent)
        (missing ??= []).push(`logic block ${i + 1}, condition ${condition + 1}`);
      absent.length = 0;
    }
    holds += Number(isTrue);
    if (!isTrue) continue;
    const isNew = before[i] !== '1';
    for (const actionId of actionIds) {
      const again = consecutive.get(actionId);
      if (again === undefined) continue;
      if (isNew || again) (firings ??= []).push({ actionId, cause: `block ${i}` });
      else suppressed = true;
    }
  }
  if (firings !== undefined || missing !== undefined) {
    return { holds, firings: firings ?? nothing, suppressed, missing: missing ?? nothing };
  }
  const { quiet } = logic;
  if (quiet?.holds === holds && quiet.suppressed === suppressed) return quiet;
  logic.quiet = { holds, firings: nothing, suppressed, missing: nothing };
  return logic.quiet;
}

/**
 * A device without a position counts as outside, so that its first position inside is a crossing.
 */
function evaluateFence(
  { sources, consecutive }: CompiledRule,
  {
    fence,
    latitude,
    longitude,
    insideActionIds,
    outsideActionIds,
  }: Extract<CompiledLogic, { type: 'GEO_FENCE' }>,
  reading: Reading,
  before: string,
): Verdict {
  const degrees = (place: number, max: number): number | undefined => {
    const value = converted(ownValue(reading, sources, place), 'NUMERICAL');
    if (typeof value === 'number' && Math.abs(value) <= max) return value;
    return undefined;
  };
  const [lat, lng] = [degrees(latitude, 90), degrees(longitude, 180)];
  if (lat === undefined || lng === undefined) {
    const missing: string[] = [];
    if (lat === undefined) missing.push('latitude');
    if (lng === undefined) missing.push('longitude');
    return { holds: before, firings: nothing, suppressed: false, missing };
  }
  const inside = isInside(fence, lng, lat);
  const crossed = inside !== (before === '1');
  const firings: Firing[] = [];
  let suppressed = false;
  const entered = { cause: 'inside', actionIds: insideActionIds };
  const left = { cause: 'outside', actionIds: outsideActionIds };
  const { cause, actionIds } = inside ? entered : left;
  for (const actionId of actionIds) {
    const again = consecutive.get(actionId);
    if (again === undefined) continue;
    if (crossed || again) firings.push({ actionId, cause });
    else suppressed = true;
  }
  return { holds: String(Number(inside)), firings, suppressed, missing: nothing };
}
