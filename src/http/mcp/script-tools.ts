// Script tools: decoders and rules, which are read and tried out, and never stored.
import Type from 'typebox';
import type { Json, JsonObject } from '../../model/json.ts';
import { deviceId } from './device-tools.ts';
import { idPattern, membersOf, type Tool, tool, ToolRefusal } from './tool.ts';

const id = Type.String({ minLength: 1, maxLength: 100, pattern: idPattern });

const readDecoder = tool({
  name: 'read_decoder',
  title: 'Read a decoder',
  description:
    'The scripts of a device type, by its id or by a device that uses it: uplinkScript turns payloads into samples. To explain a decoder, read it and try it with run_decoder.',
  input: Type.Object(
    { deviceTypeId: Type.Optional(id), deviceId: Type.Optional(deviceId) },
    { additionalProperties: false, minProperties: 1, maxProperties: 1 },
  ),
  async run({ ask }, { deviceTypeId, deviceId: device }) {
    const typeId = deviceTypeId ?? (await typeOf(String(device)));
    const type = await ask('GET', `/v3/device-types/${encodeURIComponent(typeId)}`);
    const shown = ['id', 'name', 'uplinkScript', 'downlinkScript', 'schemas', 'libraries'];
    return membersOf(type, shown);

    async function typeOf(named: string): Promise<string> {
      const found = membersOf(await ask('GET', `/v3/devices/${encodeURIComponent(named)}`), [
        'dataFlowId',
      ]);
      const flowId = encodeURIComponent(String(found['dataFlowId']));
      const { deviceType } = membersOf(await ask('GET', `/v3/data-flows/${flowId}`), [
        'deviceType',
      ]);
      if (deviceType === null || deviceType === undefined)
        throw new ToolRefusal(
          `Device ${named} has no device type: its payloads are stored as they are`,
        );
      return String(membersOf(deviceType, ['id'])['id']);
    }
  },
});

const runDecoder = tool({
  name: 'run_decoder',
  title: 'Run a decoder',
  description:
    'Runs a script once in the sandbox and stores nothing: JavaScript with a function consume(event), which calls emit(type, value). Returns what it emitted; its errors are ERROR entries.',
  input: Type.Object(
    {
      script: Type.String({ maxLength: 100_000 }),
      event: Type.Unsafe<JsonObject>({
        type: 'object',
        description:
          'What consume gets, such as {"data": {"payloadHex": "01a4", "port": 1}, "state": {}}',
      }),
    },
    { additionalProperties: false },
  ),
  run: ({ ask }, { script, event }) => ask('POST', '/v3/run-script', { script, event }),
});

const runsShown = 20;

const draftRule = tool({
  name: 'draft_rule',
  title: 'Draft a rule',
  description: `Checks the draft of a rule and simulates it over stored samples. Nothing is stored or sent. Returns how often it would have fired, and the first ${runsShown} runs with their reasons; without actions, only the reasons say whether the condition held. A person creates the rule in the console.`,
  input: Type.Object(
    {
      rule: Type.Unsafe<JsonObject>({
        type: 'object',
        description:
          'Body of POST /v3/rules: {name, workspaceId, inputs: [{id: <device id>, type: "DEVICE"}], logic: {type: "COMPARISON", dataSources: [{id: "s", inputIds: [<device id>], dataTopic: "default", dataKey: "temperature", valueType: "NUMERICAL"}], logicBlocks: [{conditions: [{operandFirst: {type: "DATA_SOURCE", dataSourceId: "s"}, operator: "GT", operandSecond: {type: "CONSTANT", valueType: "NUMERICAL", value: 30}}]}]}}',
      }),
      from: Type.String({ maxLength: 40, description: 'Inclusive, ISO 8601' }),
      to: Type.String({ maxLength: 40, description: 'Exclusive, ISO 8601' }),
    },
    { additionalProperties: false },
  ),
  async run({ ask }, input) {
    const { content, ...found } = (await ask('POST', '/v3/rules/simulate', input)) as {
      readonly content: readonly Json[];
    };
    return { ...found, content: content.slice(0, runsShown) };
  },
});

export const scriptTools: readonly Tool[] = [readDecoder, runDecoder, draftRule];
