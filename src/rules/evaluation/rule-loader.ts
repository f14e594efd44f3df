// Rule loader: compiles rules with the records that they refer to.
import type { AlarmProperties } from '../../model/alarm.ts';
import type { Rule } from '../../model/rule.ts';
import type { Records, RecordsDb } from '../../storage/records/records.ts';
import { customLogicRows } from '../../storage/records/rows/rules.ts';
import { workspacesOfDevices } from '../../storage/records/rows/devices.ts';
import {
  findOpenOutputConnectors,
  findReadableProperties,
} from '../../storage/records/rows/output-connectors.ts';
import { type CompiledRule, compileRule, type RuleParts } from './compiled-rule.ts';

/** `failed` is called for a rule that cannot be compiled. It is skipped. */
export async function compileRules(
  store: Pick<Records, 'db' | 'sealer'>,
  rules: readonly Rule[],
  failed: (ruleId: string, error: unknown) => void,
): Promise<readonly CompiledRule[]> {
  const parts = await readParts(store, rules);
  return rules.flatMap((rule) => {
    try {
      return compileRule(rule, parts) ?? [];
    } catch (error) {
      failed(rule.id, error);
      return [];
    }
  });
}

async function readParts(
  store: Pick<Records, 'db' | 'sealer'>,
  rules: readonly Rule[],
): Promise<RuleParts> {
  const { db } = store;
  const actionIds = new Set(rules.flatMap(({ actions }) => actions.map(({ id }) => id)));
  const blockIds = new Set(rules.flatMap(({ logic }) => logic.customLogic?.customLogicId ?? []));
  const connectors = await findOpenOutputConnectors(db, [...actionIds]);
  const alarmIds = connectors.filter(({ type }) => type === 'ALARM').map(({ id }) => id);
  // The action of an unreadable one becomes a delivery, which fails with the reason.
  const alarms = await findReadableProperties(store, alarmIds);
  const blocks = await customLogicRows.findAll(db, [...blockIds]);
  const isInWorkspace = await inputsInWorkspace(db, rules);
  return {
    connectors: new Map(connectors.map((connector) => [connector.id, connector])),
    customLogic: new Map(blocks.map((block) => [block.id, block])),
    alarms: alarms as ReadonlyMap<string, AlarmProperties>,
    isInWorkspace,
  };
}

/**
 * Returns which devices the rules may read: a device that was moved to another workspace is no
 * longer an input.
 */
export async function inputsInWorkspace(
  db: RecordsDb,
  rules: readonly Rule[],
): Promise<NonNullable<RuleParts['isInWorkspace']>> {
  const inputs = rules.flatMap((rule) => rule.inputs.filter(({ type }) => type === 'DEVICE'));
  const workspaces = await workspacesOfDevices(db, [...new Set(inputs.map(({ id }) => id))]);
  // A deleted device is in no workspace, and has no samples.
  return (deviceId, workspaceId) => (workspaces.get(deviceId) ?? workspaceId) === workspaceId;
}
