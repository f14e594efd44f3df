// Alarm outputs: the actions of a rule that open alarms, prepared for evaluation (contract 37).
import type { AlarmProperties } from '../../model/alarm.ts';
import { checkedDurationMs } from '../../model/iso-duration.ts';
import type { Rule } from '../../model/rule.ts';
import { type AlarmTemplates, alarmTemplates } from '../../outputs/templates/alarm-templates.ts';

export interface AlarmOutput {
  readonly properties: AlarmProperties;
  readonly templates: AlarmTemplates;
  readonly clearAfterMs: number | null;
  readonly escalateAfterMs: number | null;
  readonly remindEveryMs: number | null;
  /** Indexes of the logic blocks with this action. */
  readonly blocks: readonly number[];
}

/** By the id of the output connector; empty for most rules. */
export function compileAlarms(
  { actions, logic }: Pick<Rule, 'actions' | 'logic'>,
  properties: ReadonlyMap<string, AlarmProperties>,
): ReadonlyMap<string, AlarmOutput> {
  const alarms = new Map<string, AlarmOutput>();
  for (const { id } of actions) {
    const own = properties.get(id);
    if (own === undefined) continue;
    const blocks = (logic.logicBlocks ?? []).flatMap(({ actionIds }, block) =>
      actionIds.includes(id) ? [block] : [],
    );
    alarms.set(id, {
      properties: own,
      templates: alarmTemplates(own),
      clearAfterMs: msOrNull(own.clearAfter),
      escalateAfterMs: msOrNull(own.escalateAfter),
      remindEveryMs: msOrNull(own.remindEvery ?? null),
      blocks,
    });
  }
  return alarms;
}

/** The connector was checked when it was saved. */
function msOrNull(duration: string | null): number | null {
  return duration === null ? null : checkedDurationMs(duration);
}
