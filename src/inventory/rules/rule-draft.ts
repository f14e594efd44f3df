// Rule draft: inputs, timer and actions of a request, checked and with defaults (contract 13).
import { parseInstant } from '../../model/instant.ts';
import type { JsonObject } from '../../model/json.ts';
import type {
  RuleActionRef,
  RuleInput,
  RuleInputType,
  RuleTimer,
  RuleTimerType,
} from '../../model/rule.ts';
import { readSchedule } from '../../model/rule-schedule.ts';
import { parseTagCombination, tagCombinationMax } from '../../model/tag.ts';
import { checkLength, invalidRule, ruleLimits } from './rule-checks.ts';
import type { LogicDraft } from './rule-logic.ts';

export interface InputDraft {
  readonly id: string;
  readonly name?: string | null | undefined;
  readonly type: RuleInputType;
  readonly tagCombination?: string | null | undefined;
  readonly workspaceId?: string | null | undefined;
}

export interface TimerDraft {
  readonly enabled?: boolean | null | undefined;
  readonly schedule?: string | null | undefined;
  readonly type?: RuleTimerType | null | undefined;
  readonly startAt?: string | null | undefined;
  readonly timeZone?: string | null | undefined;
}

export interface RuleUpdate {
  readonly name?: string | undefined;
  readonly description?: string | null | undefined;
  readonly active?: boolean | null | undefined;
  readonly inputs?: readonly InputDraft[] | null | undefined;
  readonly timer?: TimerDraft | null | undefined;
  readonly logic?: LogicDraft | null | undefined;
  readonly actions?:
    | readonly { readonly id: string; readonly configuration?: JsonObject | null | undefined }[]
    | null
    | undefined;
  readonly version?: number | null | undefined;
}

export interface RuleDraft extends RuleUpdate {
  readonly workspaceId: string;
  readonly name: string;
  readonly inputs: readonly InputDraft[];
  readonly logic: LogicDraft;
}

/** Each device and tag only once (contract 13). */
export function inputsFrom(sent: readonly InputDraft[]): RuleInput[] {
  if (sent.length === 0) throw invalidRule('inputs', 'at least one input is required');
  checkLength('inputs', sent, ruleLimits.inputsMax);
  const seen = new Set<string>();
  return sent.map(({ id, name, type, tagCombination, workspaceId }, i) => {
    if (seen.has(id))
      throw invalidRule(
        `inputs.${i}.id`,
        `${id} is duplicated; a device or tag can be an input only once`,
      );
    seen.add(id);
    const combination = combinationOf(type, tagCombination);
    if (combination !== null && parseTagCombination(combination) === undefined) {
      throw invalidRule(
        `inputs.${i}.tagCombination`,
        `must be AND:<tag id>,<tag id> or OR:<tag id>,<tag id> with 1 to ${tagCombinationMax} tags`,
      );
    }
    return {
      id,
      name: name ?? null,
      type,
      tagCombination: combination,
      workspaceId: workspaceId ?? null,
    };
  });
}

function combinationOf(type: string, tagCombination: string | null | undefined): string | null {
  if (type === 'TAG_COMBINATION') return tagCombination ?? '';
  return null;
}

const noTimer: RuleTimer = {
  enabled: false,
  schedule: null,
  type: null,
  startAt: null,
  timeZone: null,
};

/** A disabled timer is stored as sent, and checked when it is enabled. */
export function timerFrom(sent: TimerDraft | null | undefined): RuleTimer {
  if (sent === null || sent === undefined) return noTimer;
  const startAt = typeof sent.startAt === 'string' ? parseInstant(sent.startAt) : null;
  if (startAt === undefined)
    throw invalidRule('timer.startAt', `${sent.startAt} is not an ISO-8601 date-time`);
  const timer: RuleTimer = {
    enabled: sent.enabled ?? false,
    schedule: sent.schedule ?? null,
    type: sent.type ?? null,
    startAt,
    timeZone: sent.timeZone ?? null,
  };
  if (!timer.enabled) return timer;
  const read = readSchedule(timer);
  if ('reason' in read) {
    const [field = 'timer', ...reason] = read.reason.split(': ');
    throw invalidRule(field, reason.join(': '));
  }
  return timer;
}

/** Returns the next due time of the timer of an active rule; null without one. */
export function nextExecutionOf(active: boolean, timer: RuleTimer, now: number): number | null {
  if (!active || !timer.enabled) return null;
  const read = readSchedule(timer);
  if ('schedule' in read) return read.schedule.next(now) ?? null;
  return null;
}

export function actionsFrom(sent: RuleUpdate['actions']): RuleActionRef[] {
  const actions = sent ?? [];
  checkLength('actions', actions, ruleLimits.actionsMax);
  const seen = new Set<string>();
  return actions.map(({ id, configuration }, i) => {
    if (seen.has(id)) throw invalidRule(`actions.${i}.id`, `${id} is duplicated`);
    seen.add(id);
    return { id, configuration: configuration ?? {} };
  });
}
