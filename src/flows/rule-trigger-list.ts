// Trigger list: the triggered rules of a batch in their order; equal triggers of alarms become one entry.
import type { CompiledRule } from '../rules/compiled-rule.ts';
import type { Triggered } from '../rules/evaluation.ts';
import type { Origin } from './rule-effects.ts';

export interface TriggerEntry {
  readonly triggered: Triggered;
  readonly origin: Origin;
  /** Triggers that it represents; the last one is `triggered`. */
  readonly times: number;
}

export interface TriggerList {
  add(triggered: Triggered, origin: Origin): void;
  all(): Iterable<TriggerEntry>;
}

/**
 * In a storm most triggers are of the same alarm: of a rule, device and output after the first one,
 * only their number and the last one matter.
 */
export function createTriggerList(): TriggerList {
  const entries = new Map<number, TriggerEntry>();
  /** By rule and device, then by outputs: the place of the entry of further triggers, if any. */
  const repeats = new Map<string, Map<string, number | undefined>>();
  let next = 0;

  function push(entry: TriggerEntry): number {
    entries.set(next, entry);
    return next++;
  }

  return {
    add(triggered, origin) {
      const id = `${triggered.compiled.rule.id}\n${origin.deviceId}`;
      const outputs = repeatedOutputs(triggered);
      const places = repeats.get(id) ?? new Map<string, number | undefined>();
      if (outputs === undefined || !places.has(outputs)) push({ triggered, origin, times: 1 });
      // An end is between the triggers before and after it.
      if (outputs === undefined) return void repeats.delete(id);
      repeats.set(id, places);
      if (!places.has(outputs)) return void places.set(outputs, undefined);
      const place = places.get(outputs) ?? -1;
      const times = (entries.get(place)?.times ?? 0) + 1;
      // It is behind all others now, because it describes the last trigger.
      entries.delete(place);
      places.set(outputs, push({ triggered, origin, times }));
    },
    all: () => entries.values(),
  };
}

/** The outputs that are triggered; undefined for what is not only alarms with steady keys. */
function repeatedOutputs({ compiled, verdict, ended = [] }: Triggered): string | undefined {
  if (verdict === undefined || ended.length > 0) return undefined;
  const { firings } = verdict;
  if (!firings.every(({ actionId }) => hasSteadyAlarm(compiled, actionId))) return undefined;
  return firings.map(({ actionId }) => actionId).join();
}

/** Whether the action triggers the same alarm for all samples of a device. */
function hasSteadyAlarm({ alarms }: CompiledRule, actionId: string): boolean {
  return alarms.get(actionId)?.templates.isSteady === true;
}
