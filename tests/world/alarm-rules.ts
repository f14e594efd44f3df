// Alarms of tests: outputs of type ALARM, rules that open alarms, and the alarms of a device.
import { vi } from 'vitest';
import type { TestDevice, World } from './world.ts';

const newestMsMax = 60_000;

/** An alarm as the platform shows it; tests compare its other members. */
export interface ShownAlarm {
  readonly id: string;
  readonly key: string;
  readonly lastTriggered: string;
}

export interface AlarmRules {
  /** Creates an output connector of type ALARM; its id. */
  output(alarmProperties?: object, more?: object): Promise<string>;
  /** A rule with one logic block for each limit of the temperature. */
  hotRule(
    device: TestDevice,
    blocks: readonly (readonly [limit: number, connectorId: string])[],
  ): Promise<{ readonly id: string; readonly version: number }>;
  /** Captures samples, one after the other. */
  send(device: TestDevice, ...temperatures: number[]): Promise<void>;
  /** The alarms of the device, newest trigger first. */
  of(device: TestDevice): Promise<ShownAlarm[]>;
  /** The one with the newest trigger; waits until there is one, with the key if it is given. */
  newest(device: TestDevice, key?: string): Promise<ShownAlarm>;
}

export const temperatureOf = (deviceId: string) => ({
  id: 's1',
  inputIds: [deviceId],
  dataTopic: 'default',
  dataKey: 'temperature',
  variableName: 'temperature',
  valueType: 'NUMERICAL',
});

const above = (value: number) => [
  {
    operandFirst: { type: 'DATA_SOURCE', dataSourceId: 's1' },
    operator: 'GT',
    operandSecond: { type: 'CONSTANT', value },
    order: 0,
  },
];

export function alarmRules(world: World, workspaceId = world.workspaceId): AlarmRules {
  async function of(device: TestDevice): Promise<ShownAlarm[]> {
    const path = `/v3/alarms?workspaceId=${workspaceId}&deviceId=${device.id}`;
    return (await world.must('GET', path)).content;
  }
  return {
    async output(alarmProperties = {}, more = {}) {
      const { id } = await world.must('POST', '/v3/output-connectors', {
        name: 'Alarm',
        workspaceId,
        type: 'ALARM',
        alarmProperties: { name: '{{device.name}} is hot', severity: 'MAJOR', ...alarmProperties },
        ...more,
      });
      return id;
    },
    hotRule: (device, blocks) =>
      world.must('POST', '/v3/rules', {
        name: 'Too hot',
        workspaceId,
        inputs: [{ id: device.id, type: 'DEVICE' }],
        logic: {
          type: 'COMPARISON',
          dataSources: [temperatureOf(device.id)],
          logicBlocks: blocks.map(([limit, id]) => ({
            conditions: above(limit),
            actionIds: [id],
          })),
        },
        actions: blocks.map(([, id]) => ({ id })),
      }),
    async send(device, ...temperatures) {
      for (const temperature of temperatures) await world.capture(device, { temperature });
    },
    of,
    newest: (device, key) =>
      vi.waitFor(async () => {
        const [newest] = await of(device);
        if (newest === undefined || (key !== undefined && newest.key !== key))
          throw new Error('The alarm is not there');
        return newest;
      }, newestMsMax),
  };
}
