// Rule of the demo: an output writes a leak as a sample to the topic `alarm`.
import type { JsonObject } from '../../src/model/json.ts';
import type { Platform } from './platform.ts';
import type { DemoWorkspace } from './setup.ts';

interface Named {
  readonly id: string;
  readonly name: string;
}

const ruleName = 'Leak alarm';
export const alarmTopic = 'alarm';

/**
 * Makes the rule and its action unless they are there; once the history is loaded, which is to
 * raise no alarms.
 */
export async function setUpLeakRule(platform: Platform, workspace: DemoWorkspace): Promise<void> {
  const within = { workspaceId: workspace.id, size: '1000' };
  const rules = await platform.get<{ readonly content: readonly Named[] }>('/v3/rules', within);
  if (rules.content.some(({ name }) => name === ruleName)) return;
  const payload = '{"message": "Water at {{device.name}}", "temperature": {{data.temperature}}}';
  const { id: action } = await platform.post<Named>('/v3/output-connectors', {
    name: ruleName,
    workspaceId: workspace.id,
    scope: 'RULE_ACTION',
    type: 'CUSTOM_DATABASE',
    useCustomPayload: true,
    customPayload: payload,
    customDatabaseProperties: { topic: alarmTopic, useCurrentDevice: true },
  });
  const detectors = workspace.devices
    .filter(({ kind }) => kind.folder === 'leak-detector')
    .map(({ id }) => id);
  const condition: JsonObject = {
    operandFirst: { type: 'DATA_SOURCE', dataSourceId: 'leak' },
    operator: 'EQ',
    operandSecond: { type: 'CONSTANT', value: true },
  };
  await platform.post<Named>('/v3/rules', {
    name: ruleName,
    workspaceId: workspace.id,
    inputs: detectors.map((id) => ({ id, type: 'DEVICE' })),
    actions: [{ id: action }],
    logic: {
      type: 'COMPARISON',
      dataSources: [
        {
          id: 'leak',
          inputIds: detectors,
          dataTopic: 'default',
          dataKey: 'leak',
          valueType: 'BOOLEAN',
        },
      ],
      logicBlocks: [{ actionIds: [action], conditions: [condition] }],
    },
  });
}
