// Alarm desk: what people do to alarms, each with its audit entry and messages in one transaction (contract 37).
import { randomUUID } from 'node:crypto';
import type { Author } from '../../model/principal.ts';
import { change, found, type Step } from '../../inventory/record-crud.ts';
import { Mutes } from '../../inventory/alarms/mutes.ts';
import {
  acknowledgedAlarm,
  type Alarm,
  type AlarmEvent,
  alarmLimits,
  clearedAlarm,
  commentedAlarm,
  endlessSource,
  mutedAlarm,
} from '../../model/alarm.ts';
import { problem, Problem } from '../../model/problem.ts';
import type { BlockWaits, Rule } from '../../model/rule.ts';
import type { Records } from '../../storage/records/records.ts';
import { alarmRows, alarmCommentRows, alarmSourceRows } from '../../storage/records/rows/alarms.ts';
import { conditionStateRows } from '../../storage/records/rows/rule-state.ts';
import { ruleRows } from '../../storage/records/rows/rules.ts';
import { type AlarmEffectParts, notifyOfAlarms } from './alarm-notifications.ts';

/** Alarms per transaction, so that rules and requests have their turns in between. */
const alarmsPerStep = 100;

export type AlarmAction =
  | { readonly action: 'ACKNOWLEDGE' }
  | { readonly action: 'CLEAR'; readonly reason: string | null };

interface RefusedAlarm {
  readonly id: string;
  readonly reason: string;
  readonly errorCode: string;
}

export class AlarmDesk {
  readonly #records: Records;
  readonly #effects: AlarmEffectParts;

  constructor(records: Records, effects: AlarmEffectParts) {
    this.#records = records;
    this.#effects = effects;
  }

  /** Resolves when it is durable. A repetition changes nothing. Throws 404, or 409 if cleared. */
  async act(id: string, action: AlarmAction, by: Author): Promise<void> {
    await this.#perform(async (step) => {
      const [alarm] = await alarmRows.find(step.db, [id]);
      const event = acted(found(alarm, 'alarm', id), action, by, step.now());
      const events = event === undefined ? [] : [event];
      await saveActed(step, events);
      return events;
    });
  }

  /**
   * Comments within `step`: the records, or a transaction of them. Throws 404, or 409 for a
   * further comment above the limit.
   */
  async comment(
    records: Records,
    { id, text, by }: { readonly id: string; readonly text: string; readonly by: Author },
  ): Promise<void> {
    const work = async (step: Step) => [await commented(step, id, { text, by })];
    await this.#perform(work, records);
  }

  /**
   * Mutes the alarm within `step`, and marks it with its mute. Throws 404, 400, or 409 for a cleared
   * alarm.
   */
  async mute(records: Records, id: string, sent: Parameters<Mutes['muteAlarm']>[1]): Promise<void> {
    await change(records, async (step) => {
      const [known] = await alarmRows.find(step.db, [id]);
      const alarm = found(known, 'alarm', id);
      const muted = await new Mutes(step).muteAlarm(alarm, sent);
      const ends = Math.max(muted.until, alarm.muted?.until ?? 0);
      if (ends === muted.until)
        await alarmRows.save(step.db, [mutedAlarm(alarm, muted, step.now())]);
      step.announce({ kind: 'alarm', id, action: 'updated' });
    });
  }

  /** Resolves to the number of changed alarms, and to those that could not be. */
  async actOnMany(
    ids: readonly string[],
    action: AlarmAction,
    by: Author,
  ): Promise<{ readonly changed: number; readonly refused: readonly RefusedAlarm[] }> {
    const refused: RefusedAlarm[] = [];
    let changed = 0;
    for (let from = 0; from < ids.length; from += alarmsPerStep) {
      if (from > 0) await this.#effects.pause();
      changed += await this.#actOnSome(ids.slice(from, from + alarmsPerStep), action, by, refused);
    }
    return { changed, refused };
  }

  /** One transaction; what `work` returns is published after it. */
  async #perform(
    work: (step: Step) => Promise<readonly AlarmEvent[]>,
    records: Records = this.#records,
  ): Promise<number> {
    return change(records, async (step) => {
      const events = await work(step);
      const shown = await notifyOfAlarms(this.#effects, step, events);
      step.afterCommit(() => this.#effects.changed(events, shown, 0));
      return events.length;
    });
  }

  async #actOnSome(
    ids: readonly string[],
    action: AlarmAction,
    by: Author,
    refused: RefusedAlarm[],
  ): Promise<number> {
    return this.#perform(async (step) => {
      const alarms = new Map(
        (await alarmRows.find(step.db, ids)).map((alarm) => [alarm.id, alarm]),
      );
      const events = ids.flatMap((id) => {
        try {
          return acted(found(alarms.get(id), 'alarm', id), action, by, step.now()) ?? [];
        } catch (error) {
          refused.push(refusal(id, error));
          return [];
        }
      });
      await saveActed(step, events);
      return events;
    });
  }
}

/** Undefined when the alarm is already so. Throws 409 for an acknowledgement of a cleared one. */
function acted(alarm: Alarm, action: AlarmAction, by: Author, at: number): AlarmEvent | undefined {
  const event = { at, hops: 0, sampleTime: alarm.sampleTime?.last ?? null };
  if (action.action === 'CLEAR') {
    if (alarm.state === 'CLEARED') return undefined;
    const cleared = clearedAlarm(alarm, { at, by, reason: action.reason });
    return { change: 'CLEARED', alarm: cleared, ...event };
  }
  if (alarm.state === 'CLEARED') throw problem('alarmCleared', { id: alarm.id });
  if (alarm.state === 'ACKNOWLEDGED') return undefined;
  return { change: 'ACKNOWLEDGED', alarm: acknowledgedAlarm(alarm, at, by), ...event };
}

async function saveActed(step: Step, events: readonly AlarmEvent[]): Promise<void> {
  await forgetThatRulesWereTrue(step, events);
  await alarmRows.save(
    step.db,
    events.map(({ alarm }) => alarm),
  );
  for (const { alarm } of events) step.announce({ kind: 'alarm', id: alarm.id, action: 'updated' });
}

async function commented(
  step: Step,
  id: string,
  { text, by }: { readonly text: string; readonly by: Author },
): Promise<AlarmEvent> {
  const [known] = await alarmRows.find(step.db, [id]);
  const before = found(known, 'alarm', id);
  const { commentsMax } = alarmLimits;
  if (before.commentCount >= commentsMax) throw problem('alarmCommentsFull', { id, commentsMax });
  const alarm = commentedAlarm(before);
  const at = step.now();
  await alarmCommentRows.insert(step.db, id, { id: randomUUID(), at, by, text });
  await alarmRows.save(step.db, [alarm]);
  step.announce({ kind: 'alarm', id, action: 'updated' });
  return { change: 'COMMENTED', alarm, at, hops: 0, sampleTime: alarm.sampleTime?.last ?? null };
}

function refusal(id: string, error: unknown): RefusedAlarm {
  if (!(error instanceof Problem)) throw error;
  return { id, reason: error.message, errorCode: error.code };
}

// Alarm memory: who clears an alarm by hand makes its rules forget that they were true, so that it can open again (contract 42).

/** Call it before the alarms lose their sources, in the transaction of the change. */
async function forgetThatRulesWereTrue(step: Step, events: readonly AlarmEvent[]): Promise<void> {
  const { db } = step;
  const cleared = events.filter(({ change }) => change === 'CLEARED').map(({ alarm }) => alarm);
  if (cleared.length === 0) return;
  const deviceOf = new Map(cleared.map(({ id, device }) => [id, device?.id ?? '']));
  const sources = await alarmSourceRows.ofAlarms(db, [...deviceOf.keys()]);
  const wanted = sources.map(({ alarmId, ruleId, connectorId, deviceId }) => ({
    ruleId,
    connectorId,
    deviceId: deviceId === endlessSource ? (deviceOf.get(alarmId) ?? '') : deviceId,
  }));
  const { rules } = await ruleRows.activeOf(db, [...new Set(wanted.map(({ ruleId }) => ruleId))]);
  const ruleOf = new Map(rules.map((rule) => [rule.id, rule]));
  const states = new Map(
    (await conditionStateRows.find(db, wanted)).map((state) => [
      `${state.ruleId} ${state.deviceId}`,
      state,
    ]),
  );
  for (const { ruleId, connectorId, deviceId } of wanted) {
    const name = `${ruleId} ${deviceId}`;
    const rule = ruleOf.get(ruleId);
    if (rule === undefined) continue;
    const { activation } = rule;
    const state = states.get(name) ?? { ruleId, deviceId, activation, holds: '', waits: null };
    states.set(name, {
      ...state,
      holds: withoutOutput(state.holds, rule, connectorId),
      waits: waitsWithoutOutput(state.waits, rule, connectorId),
    });
  }
  await conditionStateRows.save(db, [...states.values()]);
  for (const { ruleId, deviceId } of states.values())
    step.announce({ kind: 'conditionState', id: deviceId || ruleId, action: 'updated' });
}

/** Comparisons have a state of each logic block, scripts one, geofences whether it was inside. */
function withoutOutput(holds: string, { logic }: Rule, connectorId: string): string {
  if (logic.type === 'GEO_FENCE')
    return String(
      Number(logic.geoFenceLogicBlock?.outsideActionIds.includes(connectorId) === true),
    );
  if (logic.type === 'CUSTOM_LOGIC') return '0';
  const blocks = logic.logicBlocks ?? [];
  return holds
    .split('')
    .map((holdsThen, i) => (blocks[i]?.actionIds.includes(connectorId) ? '0' : holdsThen))
    .join('');
}

/** What a logic block of the output waits for begins anew too. */
function waitsWithoutOutput(
  waits: BlockWaits | null,
  { logic }: Rule,
  connectorId: string,
): BlockWaits | null {
  const blocks = logic.logicBlocks ?? [];
  return (
    waits?.map((wait, i) => (blocks[i]?.actionIds.includes(connectorId) ? null : wait)) ?? null
  );
}
