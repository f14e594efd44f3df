// Simulation of a stored or drafted rule: reads everything that it uses, then simulates it (contract 35).
import { hasFormOfId } from '../model/ids.ts';
import type { EpochMs } from '../model/instant.ts';
import type { OutputConnector } from '../model/output-connector.ts';
import { problem } from '../model/problem.ts';
import type { Rule } from '../model/rule.ts';
import type { RecordsDb } from '../storage/records/records.ts';
import { findOpenOutputConnectors } from '../storage/records/rows/output-connectors.ts';
import { devicesOfPlace, groupsOfDevices } from '../storage/records/rows/places.ts';
import { customLogicRows, ruleRows } from '../storage/records/rows/rules.ts';
import { deviceIdsOfTag } from '../storage/records/rows/tags.ts';
import { type CompiledRule, compileRule } from './evaluation/compiled-rule.ts';
import { inputsInWorkspace } from './evaluation/rule-loader.ts';
import { type SimulatedRuns, simulateRule, type SimulationParts } from './rule-simulation.ts';

interface StoredRuleSimulationParts extends Omit<SimulationParts, 'tagsOf' | 'devicesOfTag'> {
  readonly db: RecordsDb;
}

/** `to` is exclusive. Throws Problem 404 for a rule that does not exist. */
export async function simulateStoredRule(
  ruleId: string,
  range: { readonly from: EpochMs; readonly to: EpochMs },
  parts: StoredRuleSimulationParts,
): Promise<SimulatedRuns> {
  const rule = await ruleRows.find(parts.db, ruleId);
  if (rule === undefined) throw problem('notFound', { what: 'rule', id: ruleId });
  return simulateUnstoredRule(rule, range, parts);
}

/** The same for a rule that need not be stored; `outputs` are those of its actions that are not. */
export async function simulateUnstoredRule(
  rule: Rule,
  range: { readonly from: EpochMs; readonly to: EpochMs },
  parts: StoredRuleSimulationParts,
  outputs: readonly OutputConnector[] = [],
): Promise<SimulatedRuns> {
  const { db, ...stages } = parts;
  return simulateRule(await compiledRule(db, rule, outputs), range, {
    ...stages,
    tagsOf: (deviceIds) => groupsOfDevices(db, deviceIds),
    devicesOfTag: async (id) =>
      hasFormOfId('place', id)
        ? (await devicesOfPlace(db, id)).map((device) => device.id)
        : deviceIdsOfTag(db, id),
  });
}

async function compiledRule(
  db: RecordsDb,
  rule: Rule,
  outputs: readonly OutputConnector[],
): Promise<CompiledRule> {
  const actions = rule.actions.map(({ id }) => id);
  const connectors = [...(await findOpenOutputConnectors(db, actions)), ...outputs];
  const blocks = await customLogicRows.findAll(db, [rule.logic.customLogic?.customLogicId ?? '']);
  const compiled = compileRule(rule, {
    connectors: new Map(connectors.map((connector) => [connector.id, connector])),
    customLogic: new Map(blocks.map((block) => [block.id, block])),
    isInWorkspace: await inputsInWorkspace(db, [rule]),
  });
  if (compiled === undefined) throw new Error(`Rule ${rule.id} cannot be compiled`);
  return compiled;
}
