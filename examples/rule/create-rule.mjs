// Creates a rule that opens an alarm while a device is too warm, and calls a webhook if one is set.
const {
  HELIOGRAPH_URL = 'http://localhost:8080',
  HELIOGRAPH_API_KEY = '',
  DEVICE = '',
  LIMIT = '25',
  WEBHOOK_URL,
  WEBHOOK_SECRET,
} = process.env;

async function api(path, body) {
  const response = await fetch(`${HELIOGRAPH_URL}/v3/${path}`, {
    method: body === undefined ? 'GET' : 'POST',
    headers: { 'content-type': 'application/json', 'x-api-key': HELIOGRAPH_API_KEY },
    body: JSON.stringify(body),
  });
  const result = await response.json();
  if (!response.ok) throw new Error(`${path}: ${response.status} ${result.message}`);
  return result;
}

const { name, workspaceId } = await api(`devices/${DEVICE}`);
const output = (properties) =>
  api('output-connectors', { workspaceId, scope: 'RULE_ACTION', ...properties });

const actions = [
  await output({
    name: `${name} is too warm`,
    type: 'ALARM',
    // Clears with the first sample that is not too warm, or an hour after the last one that is.
    alarmProperties: {
      name: '{{device.name}} is too warm',
      severity: 'MAJOR',
      clearAfter: 'PT1H',
    },
  }),
];
if (WEBHOOK_URL !== undefined)
  actions.push(
    await output({
      name: `Webhook of ${name}`,
      type: 'WEBHOOK',
      webhookProperties: {
        uri: WEBHOOK_URL,
        method: 'POST',
        headers: {},
        hmacSecret: WEBHOOK_SECRET,
      },
    }),
  );

const source = { id: 't', inputIds: [DEVICE], dataTopic: 'default', dataKey: 'temperature' };
const rule = await api('rules', {
  name: `${name} is too warm`,
  workspaceId,
  inputs: [{ id: DEVICE, type: 'DEVICE' }],
  actions: actions.map(({ id }) => ({ id })),
  logic: {
    type: 'COMPARISON',
    dataSources: [{ ...source, valueType: 'NUMERICAL' }],
    logicBlocks: [
      {
        actionIds: actions.map(({ id }) => id),
        conditions: [
          {
            operandFirst: { type: 'DATA_SOURCE', dataSourceId: 't' },
            operator: 'GT',
            operandSecond: { type: 'CONSTANT', value: Number(LIMIT) },
          },
        ],
      },
    ],
  },
});
console.log(`created rule ${rule.id}`);
