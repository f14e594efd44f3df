// Script runs of custom logic: one at a time per rule, so that a slow script delays only its rule.
import type { CompiledRule } from '../rules/compiled-rule.ts';
import type { CommitPlace } from '../records/commit-order.ts';
import { countTriggers, findTriggers, type WaitingTrigger } from '../records/rows/rule-queue.ts';
import { type RuleOutlets, type RuleWrite, writeRuleEffects } from './rule-writes.ts';
import { keepAlarmSources } from './rule-alarms.ts';
import { createCollector, runScript, type ScriptRunParts, writeOf } from './rule-script-runs.ts';
import type { RecordsDb } from '../records/records.ts';
import { createKeyedQueue } from '../structures/keyed-queue.ts';
import type { SetTimer } from '../structures/timers.ts';

/** Runs whose effects are written together. */
const runsPerWrite = 20;
const retryMs = 1_000;

export interface RuleScriptsParts extends ScriptRunParts {
  /** Returns the current rule. */
  readonly ruleOf: (ruleId: string) => Promise<CompiledRule | undefined>;
  readonly outlets: RuleOutlets;
  readonly failed: (error: unknown) => void;
  readonly setTimer: SetTimer;
  /** Whether the scripts of the rule run here; with one node, all. */
  readonly isOwn?: (ruleId: string) => boolean;
  /** Rejects when another node runs the scripts of the rule; in the transaction of the effects. */
  readonly fence?: (step: RecordsDb, ruleId: string) => Promise<void>;
  /** Called when a script set timers. */
  readonly timersSet: () => void;
}

export interface RuleScripts {
  count(ruleId: string): number;
  /** Rules with waiting runs. */
  waitingRules(): readonly string[];
  added(ruleIds: readonly string[]): void;
  /** Resumes the runs that waited when the platform, or another node, stopped. */
  start(): Promise<void>;
  /** Resolves when no run waits or is in progress. */
  settled(): Promise<void>;
  /** Resolves after the runs in progress. Waiting runs are executed after the next start. */
  close(): Promise<void>;
}

interface ScriptsState {
  readonly parts: RuleScriptsParts;
  /** Number of waiting runs by rule. */
  readonly waiting: Map<string, number>;
  /** Rules to which runs were added since their queue was last read. */
  readonly unread: Set<string>;
  /** Rules that failed and wait for their retry. */
  readonly failing: Set<string>;
  closed: boolean;
}

export function createRuleScripts(parts: RuleScriptsParts): RuleScripts {
  const state: ScriptsState = {
    parts,
    waiting: new Map(),
    unread: new Set(),
    failing: new Set(),
    closed: false,
  };
  const { waiting, unread, failing } = state;
  const queue = createKeyedQueue({
    work: (ruleId) => workOn(state, ruleId),
    failed: parts.failed,
    setTimer: parts.setTimer,
    runningMax: Infinity,
    retryMs,
  });

  function schedule(ruleId: string): void {
    if (!failing.has(ruleId)) queue.schedule(ruleId);
  }

  return {
    count: (ruleId) => waiting.get(ruleId) ?? 0,
    waitingRules: () => [...waiting.keys()],
    added(ruleIds) {
      for (const id of ruleIds) {
        waiting.set(id, (waiting.get(id) ?? 0) + 1);
        unread.add(id);
        schedule(id);
      }
    },
    async start() {
      for (const [ruleId, count] of await countTriggers(parts.db)) {
        if (parts.isOwn?.(ruleId) === false) continue;
        waiting.set(ruleId, count);
        schedule(ruleId);
      }
    },
    settled: queue.idle,
    async close() {
      state.closed = true;
      await queue.close();
    },
  };
}

async function workOn(state: ScriptsState, ruleId: string): Promise<void> {
  state.failing.delete(ruleId);
  try {
    await runWaiting(state, ruleId);
  } catch (error) {
    state.failing.add(ruleId);
    throw error;
  }
}

async function runWaiting(state: ScriptsState, ruleId: string): Promise<void> {
  const { parts, waiting, unread } = state;
  while (!state.closed) {
    unread.delete(ruleId);
    if (parts.isOwn?.(ruleId) === false) return void waiting.delete(ruleId);
    const found = await findTriggers(parts.db, ruleId, runsPerWrite);
    if (found.length === 0) {
      if (!unread.has(ruleId)) waiting.delete(ruleId);
      return;
    }
    const compiled = await parts.ruleOf(ruleId);
    const { taken, write } = await runAll(state, compiled, found);
    const { fence } = parts;
    const fenced =
      fence === undefined
        ? write
        : { ...write, savePositions: (step: RecordsDb) => fence(step, ruleId) };
    await writeRuleEffects(parts.db, fenced, parts.outlets);
    keepAlarmSources(
      write.alarms.map(({ effect }) => effect),
      parts.alarmSources,
    );
    waiting.set(ruleId, Math.max(0, (waiting.get(ruleId) ?? 0) - taken));
    if (write.timers.length > 0) parts.timersSet();
  }
}

async function runAll(
  state: ScriptsState,
  compiled: CompiledRule | undefined,
  found: readonly WaitingTrigger[],
): Promise<{ readonly taken: number; readonly write: RuleWrite }> {
  const collector = createCollector(state.parts);
  const done = new Map<string, CommitPlace>();
  let taken = 0;
  for (const trigger of found) {
    if (state.closed) break;
    const { ruleId, activation, place } = trigger;
    if (compiled?.rule.activation === activation) await runScript(collector, compiled, trigger);
    taken += 1;
    done.set(ruleId, place);
  }
  const removed = [...done].map(([ruleId, upTo]) => ({ ruleId, upTo }));
  return { taken, write: { ...writeOf(collector), done: removed } };
}
