// Rule simulation: a dry run over stored samples that writes and sends nothing.
import { type EpochMs, hourMs, newestUntil } from '../model/instant.ts';
import type { Json, JsonObject } from '../model/json.ts';
import { problem, Problem, UnreadableRecord } from '../model/problem.ts';
import { nextDueOf, type Rule } from '../model/rule.ts';
import { nextDue } from '../model/rule-schedule.ts';
import type { Sample } from '../model/sample.ts';
import type { ScriptRunner } from '../scripting/script-machine.ts';
import type { Samples } from '../storage/samples/samples.ts';
import { refuseUnreadable } from '../storage/samples/reported-reads.ts';
import {
  type CompiledRule,
  compileRule,
  inputsInWorkspace,
  inputsOf,
} from './evaluation/compiled-rule.ts';
import { type DevicePlan, planDevice } from './evaluation/device-plan.ts';
import {
  evaluateDue,
  evaluateSample,
  evaluateTimed,
  formulasNeeded,
  formulasNeededWithoutDevice,
  RuleMemory,
  silenceVerdict,
  type Triggered,
} from './evaluation/evaluation.ts';
import type { FormulaValues } from './evaluation/operands.ts';
import { Reading } from './evaluation/rule-reading.ts';
import { type RuleRun, runOf, runView } from './evaluation/rule-run.ts';
import {
  actionsFor,
  emittedReason,
  scriptCauses,
  scriptEvent,
  scriptOutcome,
} from './evaluation/script-run.ts';
import { type LookUpDevice, type Origin, ruleContext } from './rule-effects.ts';
import { hasFormOfId } from '../model/ids.ts';
import type { OutputConnector } from '../model/connector.ts';
import type { RecordsDb } from '../storage/records/records.ts';
import { outputConnectorRows } from '../storage/records/rows/data-flows.ts';
import { placeRows } from '../storage/records/rows/places.ts';
import { customLogicRows, ruleRows } from '../storage/records/rows/rules.ts';
import { tagRows } from '../storage/records/rows/tags.ts';
import type { UplinkRoute } from '../inventory/devices/uplink-route-cache.ts';

const simulationLimits = {
  /** What is read at most; beyond it the answer says that it was cut. */
  samplesMax: 10_000,
  devicesMax: 100,
  /** Runs of scripts, which take longer. */
  scriptRunsMax: 1_000,
  /** Runs that the answer lists; all are counted. */
  runsToldMax: 1_000,
} as const;

/** Values that expressions read at once, because the next samples need them too. */
const readAheadMs = hourMs;

export interface SimulatedRuns {
  readonly samples: number;
  readonly runs: number;
  readonly fired: number;
  /** How long the rule would have been true, of all devices together, in seconds. */
  readonly trueSeconds: number;
  /** Not everything of the range was looked at. */
  readonly truncated: boolean;
  /** Those that fired or failed first, then others, in order of time. */
  readonly content: readonly JsonObject[];
}

export class RuleSimulation {
  readonly #parts;

  constructor(parts: {
    readonly db: RecordsDb;
    readonly store: Samples;
    readonly scripts: ScriptRunner;
    readonly lookUp: LookUpDevice;
    /** What expressions read besides the samples; of one simulation. */
    readonly formulas: () => FormulaValues;
    readonly pause: () => Promise<unknown>;
    readonly now: () => EpochMs;
  }) {
    this.#parts = parts;
  }

  /** `to` is exclusive. Throws Problem 404 for a rule that does not exist. */
  async ofStored(
    ruleId: string,
    range: { readonly from: EpochMs; readonly to: EpochMs },
  ): Promise<SimulatedRuns> {
    const rule = await ruleRows.find(this.#parts.db, ruleId);
    if (rule === undefined) throw problem('notFound', { what: 'rule', id: ruleId });
    return this.of(rule, range);
  }

  /** The same for a rule that need not be stored; `outputs` are those of its actions that are not. */
  async of(
    rule: Rule,
    range: { readonly from: EpochMs; readonly to: EpochMs },
    outputs: readonly OutputConnector[] = [],
  ): Promise<SimulatedRuns> {
    return this.#simulate(await compiledRule(this.#parts.db, rule, outputs), range);
  }

  /**
   * Runs the rule over what is stored of its inputs in the range, as if it had been active; timers
   * and state begin anew.
   */
  async #simulate(
    compiled: CompiledRule,
    {
      from,
      to,
    }: {
      readonly from: EpochMs;
      readonly to: EpochMs;
    },
  ): Promise<SimulatedRuns> {
    if (to <= from) throw problem('badInterval', { reason: 'from must be before to' });
    const devices = await this.#devicesOf(compiled);
    const { samples, truncated } = await this.#samplesOf(
      devices.slice(0, simulationLimits.devicesMax),
      from,
      to,
    );
    const tags = await placeRows.groupsOfDevices(this.#parts.db, devices);
    // Durations of logic blocks pass by the times of the samples.
    let clock = from;
    const memory = new RuleMemory(
      () => newestUntil(this.#parts.now()),
      () => clock,
    );
    const formulas = this.#parts.formulas();
    const plans = new Map<string, DevicePlan | undefined>();
    const state = { script: {} as JsonObject, held: new Map<string, boolean>(), runs: 0, from };
    const told: { readonly run: RuleRun; readonly actions: readonly Json[] }[] = [];
    const isHeld = compiled.logic.type === 'COMPARISON' && compiled.logic.isHeld;
    let due = compiled.schedule?.next(from - 1);
    let isCut = truncated || devices.length > simulationLimits.devicesMax;

    const planOf = (deviceId: string): DevicePlan | undefined => {
      if (!plans.has(deviceId))
        plans.set(deviceId, planDevice(deviceId, tags.get(deviceId) ?? new Set(), [compiled]));
      return plans.get(deviceId);
    };
    const take = async (triggered: Triggered, origin: Origin): Promise<void> => {
      const { places, verdict } = triggered;
      if (verdict !== undefined) {
        const run = runOf({
          compiled,
          origin,
          samples: triggered.reading.samples,
          places,
          verdict,
        });
        told.push({ run, actions: verdict.firings.map((firing) => ({ ...firing })) });
      } else if (state.runs >= simulationLimits.scriptRunsMax) isCut = true;
      else told.push(await this.#scriptRun(triggered, origin, state));
    };
    const runTimersUntil = async (until: EpochMs): Promise<void> => {
      while (due !== undefined && due < until && told.length < simulationLimits.samplesMax) {
        await formulas.compute(formulasNeededWithoutDevice(compiled, memory), due);
        const triggered = evaluateTimed(compiled, memory);
        if (triggered === undefined) return;
        const origin = {
          cause: 'TIMER',
          key: String(due),
          deviceId: '',
          correlationId: '',
          hops: 0,
          at: due,
        } as const;
        await take(triggered, origin);
        due = compiled.schedule === undefined ? undefined : nextDue(compiled.schedule, due, due);
      }
    };

    /** Changes logic blocks that wait no longer than to the moment. */
    const changeBlocksUntil = async (until: EpochMs): Promise<void> => {
      if (!isHeld) return;
      for (;;) {
        const due = [...plans].flatMap(([deviceId, plan]) =>
          (plan?.rules ?? []).map((planned) => ({
            deviceId,
            planned,
            at: nextDueOf(planned.cell?.waits ?? []),
          })),
        );
        const [next] = due
          .filter(({ at }) => at !== null && at < until)
          .sort((a, b) => Number(a.at) - Number(b.at));
        if (next?.at === undefined || next.at === null) return;
        const { deviceId, planned, at } = next;
        clock = at;
        const triggered = evaluateDue(planned, deviceId, memory);
        if (triggered === undefined) return;
        const key = `wait ${at}`;
        await take(triggered, { cause: 'TIMER', key, deviceId, correlationId: '', hops: 0, at });
      }
    };

    for (const { deviceId, at, isSilent } of await this.#silencesIn(
      compiled,
      devices.slice(0, simulationLimits.devicesMax),
      samples,
      { from, to: Math.min(to, this.#parts.now()) },
    )) {
      const verdict = silenceVerdict(compiled, isSilent);
      const origin = { cause: 'TIMER', key: '', deviceId, correlationId: '', hops: 0, at } as const;
      await take({ compiled, reading: new Reading([]), places: [], verdict }, origin);
    }
    for (const [i, sample] of samples.entries()) {
      await changeBlocksUntil(sample.timestamp);
      await runTimersUntil(sample.timestamp);
      clock = sample.timestamp;
      const plan = planOf(sample.deviceId);
      if (plan === undefined) continue;
      const triggers: Triggered[] = [];
      if (plan.needsFormulas)
        await formulas.compute(
          formulasNeeded(plan, sample, memory),
          sample.timestamp + readAheadMs,
        );
      evaluateSample(plan, sample, memory, {
        visit: (rule, reading, places, verdict) =>
          triggers.push({ compiled: rule, reading, places, verdict }),
      });
      const { deviceId, timestamp: at } = sample;
      const origin = {
        cause: 'UPLINK',
        key: String(i),
        deviceId,
        correlationId: '',
        hops: 0,
        at,
        sample,
      } as const;
      for (const triggered of triggers) await take(triggered, origin);
      if (i % 500 === 499) await this.#parts.pause();
    }
    await changeBlocksUntil(to);
    await runTimersUntil(to);
    const fired = told.filter(({ run }) => run.outcome === 'FIRED').length;
    const content = told.slice(0, simulationLimits.runsToldMax).map(({ run, actions }) => ({
      ...runView(compiled, run),
      actions,
    }));
    return {
      samples: samples.length,
      runs: told.length,
      fired,
      trueSeconds: trueSecondsOf(
        told.map(({ run }) => run),
        Math.min(to, this.#parts.now()),
      ),
      truncated: isCut,
      content,
    };
  }

  /** The gaps between samples that are longer than the rule of silence allows, each with its end. */
  async #silencesIn(
    { logic }: CompiledRule,
    devices: readonly string[],
    samples: readonly Sample[],
    { from, to }: { readonly from: EpochMs; readonly to: EpochMs },
  ): Promise<readonly Silenced[]> {
    if (logic.type !== 'SILENCE') return [];
    const heard = Map.groupBy(samples, ({ deviceId }) => deviceId);
    const changes: Silenced[] = [];
    for (const deviceId of devices) {
      const known = await this.#parts.lookUp(deviceId);
      const afterMs = logic.afterMs ?? (known?.device.onlineTimeoutSeconds ?? 0) * 1_000;
      let last = from;
      for (const next of [...(heard.get(deviceId) ?? []).map(({ timestamp }) => timestamp), to]) {
        if (next - last >= afterMs) {
          changes.push({ deviceId, at: last + afterMs, isSilent: true });
          if (next < to) changes.push({ deviceId, at: next, isSilent: false });
        }
        last = next;
      }
    }
    changes.sort((a, b) => a.at - b.at);
    return logic.mode === 'ALL' ? ofGroup(changes, devices.length) : changes;
  }

  async #devicesOf(compiled: CompiledRule): Promise<string[]> {
    const inputs = inputsOf(compiled);
    const ids = new Set(inputs.flatMap(({ deviceIds }) => deviceIds));
    for (const tagId of new Set(inputs.flatMap(({ tagIds }) => tagIds))) {
      for (const id of await devicesOfGroup(this.#parts.db, tagId)) ids.add(id);
    }
    return [...ids].sort();
  }

  /** In order of time; of one instant in order of device. */
  async #samplesOf(deviceIds: readonly string[], from: EpochMs, to: EpochMs) {
    const samples: Sample[] = [];
    let truncated = false;
    for (const deviceId of deviceIds) {
      let taken = 0;
      const share = Math.ceil(simulationLimits.samplesMax / deviceIds.length);
      for await (const batch of this.#parts.store.exportSamples({
        deviceId,
        from,
        to,
        unreadable: refuseUnreadable,
      })) {
        samples.push(...batch.slice(0, share - taken));
        taken += batch.length;
        if (taken < share) continue;
        truncated ||= taken > share;
        break;
      }
    }
    return { samples: samples.sort((a, b) => a.timestamp - b.timestamp), truncated };
  }

  async #scriptRun(
    triggered: Triggered,
    origin: Origin,
    state: { script: JsonObject; held: Map<string, boolean>; runs: number; readonly from: EpochMs },
  ): Promise<{ readonly run: RuleRun; readonly actions: readonly Json[] }> {
    const { compiled, reading, places } = triggered;
    const { logic, rule, consecutive } = compiled;
    if (logic.type !== 'CUSTOM_LOGIC') throw new Error('Only custom logic has a script');
    const context = await ruleContext(triggered, origin, this.#parts.lookUp);
    const type = scriptCauses[origin.cause];
    const { from: platformStart } = state;
    const cause = { type, numberOfInvocations: 0, at: origin.at, platformStart } as const;
    const event = scriptEvent(compiled, reading, cause, context);
    state.runs += 1;
    const { emits } = await this.#parts.scripts.run({
      tenant: rule.organizationId,
      source: logic.block.script,
      event: { ...event, state: state.script },
    });
    const outcome = scriptOutcome(emits, origin.at);
    state.script = outcome.state ?? state.script;
    const heldBefore = state.held.get(origin.deviceId) ?? false;
    const actions = logic.actionIds.flatMap((actionId) => {
      const again = consecutive.get(actionId);
      if (again === undefined) return [];
      return actionsFor(outcome.actions, again, heldBefore).map((result) => ({ actionId, result }));
    });
    state.held.set(origin.deviceId, outcome.actions.length > 0);
    const { at, deviceId, correlationId } = origin;
    const base = {
      at,
      cause: origin.cause,
      deviceId,
      correlationId,
      samples: reading.samples,
      places,
    };
    const actionIds = actions.map(({ actionId }) => actionId);
    const reason = outcome.error ?? emittedReason(outcome.actions.length);
    const kind =
      outcome.error !== undefined ? 'FAILED' : actions.length > 0 ? 'FIRED' : 'NOT_FIRED';
    return { run: { ...base, outcome: kind, reason, actionIds }, actions };
  }
}

/** From each run that was true to the next one of its device that was not, or to the end. */
function trueSecondsOf(runs: readonly RuleRun[], end: EpochMs): number {
  const since = new Map<string, EpochMs>();
  let sum = 0;
  for (const { deviceId, at, outcome } of runs.toSorted((a, b) => a.at - b.at)) {
    const began = since.get(deviceId);
    if (outcome === 'FIRED' || outcome === 'SUPPRESSED') since.set(deviceId, began ?? at);
    else if (outcome === 'NOT_FIRED' && began !== undefined) {
      sum += at - began;
      since.delete(deviceId);
    }
  }
  for (const began of since.values()) sum += Math.max(0, end - began);
  return Math.round(sum / 1_000);
}

interface Silenced {
  readonly deviceId: string;
  readonly at: EpochMs;
  readonly isSilent: boolean;
}

/** When all of the devices became silent, and when one of them was heard again. */
function ofGroup(changes: readonly Silenced[], devices: number): readonly Silenced[] {
  let silent = 0;
  return changes.flatMap(({ at, isSilent }) => {
    const before = silent;
    silent += isSilent ? 1 : -1;
    return before === devices || silent === devices ? [{ deviceId: '', at, isSilent }] : [];
  });
}

// Simulation of a stored or drafted rule: reads everything that it uses, then simulates it (contract 35).

/** Those that carry the tag, or are in the place. */
async function devicesOfGroup(db: RecordsDb, id: string): Promise<readonly string[]> {
  if (!hasFormOfId('place', id)) return tagRows.deviceIdsOf(db, id);
  return (await placeRows.devicesOf(db, id)).map((device) => device.id);
}

async function compiledRule(
  db: RecordsDb,
  rule: Rule,
  outputs: readonly OutputConnector[],
): Promise<CompiledRule> {
  const actions = rule.actions.map(({ id }) => id);
  const connectors = [...(await outputConnectorRows.findOpen(db, actions)), ...outputs];
  const blocks = await customLogicRows.findAll(db, [rule.logic.customLogic?.customLogicId ?? '']);
  const compiled = compileRule(rule, {
    connectors: new Map(connectors.map((connector) => [connector.id, connector])),
    customLogic: new Map(blocks.map((block) => [block.id, block])),
    isInWorkspace: await inputsInWorkspace(db, [rule]),
  });
  if (compiled === undefined) throw new Error(`Rule ${rule.id} cannot be compiled`);
  return compiled;
}

// Devices of rules: a device that does not exist or cannot be read has no route, and rules go on without it.

/** The look-up rejects only with errors of the server itself. */
export function createRuleDeviceLookup({
  findRoute,
  failed,
}: {
  /** Throws Problem 404. */
  readonly findRoute: (deviceId: string) => UplinkRoute | Promise<UplinkRoute>;
  /** Called for a device whose records cannot be read. */
  readonly failed: (what: string, error: unknown) => void;
}): (deviceId: string) => Promise<UplinkRoute | undefined> {
  return async (deviceId) => {
    try {
      return await findRoute(deviceId);
    } catch (error) {
      if (error instanceof Problem && error.status === 404) return undefined;
      if (!(error instanceof UnreadableRecord)) throw error;
      failed(`reading device ${deviceId} for rules`, error);
      return undefined;
    }
  };
}
