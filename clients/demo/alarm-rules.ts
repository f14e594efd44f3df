// Alarm rules of the demo: water on a floor and humid air in the cold store raise alarms and samples.
import type { Json, JsonObject } from '../../src/model/json.ts';
import type { Platform } from './platform.ts';
import type { DemoWorkspace } from './setup.ts';

interface Named {
  readonly id: string;
  readonly name: string;
}

interface AlarmRule {
  readonly name: string;
  /** Folder of the kind of devices that it watches. */
  readonly folder: string;
  /** Those of the kind with this word in their names; all of them when empty. */
  readonly word: string;
  readonly dataKey: string;
  readonly valueType: 'BOOLEAN' | 'NUMERICAL';
  readonly operator: 'EQ' | 'GT';
  readonly constant: Json;
  readonly severity: 'CRITICAL' | 'WARNING';
  /** Template of the name of the alarm, and the message of the sample. */
  readonly message: string;
}

/** Topic of the sample that each rule stores with its device. */
export const alarmTopic = 'alarm';
export const leakRuleName = 'Leak alarm';
export const coldStoreWord = 'Cold Store';
/** Percent; the air of the cold store is above it for most of a day, and below it every few hours. */
const humidityLimit = 74;

const alarmRules: readonly AlarmRule[] = [
  {
    name: leakRuleName,
    folder: 'leak-detector',
    word: '',
    dataKey: 'leak',
    valueType: 'BOOLEAN',
    operator: 'EQ',
    constant: true,
    severity: 'CRITICAL',
    message: 'Water at {{device.name}}',
  },
  {
    name: 'Humid cold store',
    folder: 'room-climate',
    word: coldStoreWord,
    dataKey: 'humidity',
    valueType: 'NUMERICAL',
    operator: 'GT',
    constant: humidityLimit,
    severity: 'WARNING',
    message: 'Humid air at {{device.name}}',
  },
];

export const alarmRuleNames: readonly string[] = alarmRules.map(({ name }) => name);

/**
 * Makes the rules and their actions unless they are there. The history raises no alarms: until it
 * is loaded, the rules are missing or not active.
 */
export async function setUpAlarmRules(
  platform: Platform,
  workspace: DemoWorkspace,
  active = true,
): Promise<void> {
  const within = { workspaceId: workspace.id, size: '1000' };
  const { content } = await platform.get<{ readonly content: readonly Named[] }>(
    '/v3/rules',
    within,
  );
  for (const rule of alarmRules) {
    if (content.some(({ name }) => name === rule.name)) continue;
    const actions = [];
    for (const action of actionsOf(rule)) {
      const common = { name: rule.name, workspaceId: workspace.id, scope: 'RULE_ACTION' };
      const { id } = await platform.post<Named>('/v3/output-connectors', { ...common, ...action });
      actions.push(id);
    }
    await platform.post<Named>('/v3/rules', { ...ruleOf(rule, workspace, actions), active });
  }
}

function actionsOf({ message, severity, dataKey }: AlarmRule): readonly JsonObject[] {
  return [
    { type: 'ALARM', alarmProperties: { name: message, severity } },
    {
      type: 'CUSTOM_DATABASE',
      useCustomPayload: true,
      customPayload: `{"message": "${message}", "${dataKey}": {{data.${dataKey}}}}`,
      customDatabaseProperties: { topic: alarmTopic, useCurrentDevice: true },
    },
  ];
}

function ruleOf(rule: AlarmRule, workspace: DemoWorkspace, actionIds: string[]): JsonObject {
  const inputIds = workspace.devices
    .filter(({ kind, device }) => kind.folder === rule.folder && device.name.includes(rule.word))
    .map(({ id }) => id);
  const { dataKey, valueType, operator, constant } = rule;
  const condition = {
    operandFirst: { type: 'DATA_SOURCE', dataSourceId: dataKey },
    operator,
    operandSecond: { type: 'CONSTANT', value: constant },
  };
  return {
    name: rule.name,
    workspaceId: workspace.id,
    inputs: inputIds.map((id) => ({ id, type: 'DEVICE' })),
    actions: actionIds.map((id) => ({ id })),
    logic: {
      type: 'COMPARISON',
      dataSources: [{ id: dataKey, inputIds, dataTopic: 'default', dataKey, valueType }],
      logicBlocks: [{ actionIds, conditions: [condition] }],
    },
  };
}
