// MCP handler: serves the tools to assistants over streamable HTTP, without sessions, in both generations of the protocol.
import {
  createMcpHandler as createHandler,
  fromJsonSchema,
  type JsonSchemaType,
  McpServer,
} from '@modelcontextprotocol/server';
import Type, { type Static, type TSchema } from 'typebox';
import { scriptPayload } from '../../contract/device-types.ts';
import { dayMs } from '../../model/instant.ts';
import type { Json, JsonObject } from '../../model/json.ts';

// Tool: what an assistant can ask for, answered by requests to the interface with the credential of its caller.

/** Resolves with the JSON of a successful answer. Throws `ToolRefusal` for any other. */
export type Ask = (method: 'GET' | 'POST', url: string, body?: unknown) => Promise<unknown>;

/** Who uses the tools. */
export interface ToolCaller {
  readonly ask: Ask;
  /** Undefined for all of the organization. */
  readonly workspaceIds: readonly string[] | undefined;
  readonly organizationId: string;
}

interface Tool {
  readonly name: string;
  readonly title: string;
  /** What it does and returns, for the model that chooses it. */
  readonly description: string;
  readonly input: TSchema;
  /** The input must match the schema. */
  readonly run: (caller: ToolCaller, input: unknown) => Promise<unknown>;
}

/** The reason of a missing result, for the model: what the interface refused, and what to do. */
export class ToolRefusal extends Error {
  override readonly name = 'ToolRefusal';
}

/** Declares a tool, whose input has the type of its schema. */
function tool<S extends TSchema>(
  declared: Omit<Tool, 'run' | 'input'> & {
    readonly input: S;
    readonly run: (caller: ToolCaller, input: Static<S>) => Promise<unknown>;
  },
): Tool {
  const { run } = declared;
  return { ...declared, run: (caller, input) => run(caller, input as Static<S>) };
}

/** An id that is a segment of a path: a dot or two would name another one. */
const idPattern = '^(?!\\.{1,2}$)[^/?#]+$';

/** An address with the parameters that have a value. */
function urlOf(
  path: string,
  query: Readonly<Record<string, string | number | boolean | undefined>> = {},
): string {
  const parameters = new URLSearchParams();
  for (const [name, value] of Object.entries(query))
    if (value !== undefined) parameters.set(name, String(value));
  const text = parameters.toString();
  return text === '' ? path : `${path}?${text}`;
}

/** The named members of an object, where it has them. */
function membersOf(value: unknown, names: readonly string[]): Record<string, unknown> {
  const members = value as Readonly<Record<string, unknown>>;
  return Object.fromEntries(
    names.flatMap((name) => (name in members ? [[name, members[name]]] : [])),
  );
}

// Device tools: workspaces, devices, what they send, and what happened to their payloads.

const deviceId = Type.String({
  minLength: 1,
  maxLength: 100,
  pattern: idPattern,
  description: 'Service id of a device (`id` from find_devices)',
});
const workspaceId = Type.Optional(
  Type.String({ maxLength: 100, description: 'Defaults to all workspaces of the credential' }),
);

const workspacesMax = 100;
const devicesMax = 50;

interface Listed {
  readonly content: readonly unknown[];
  readonly totalElements: number;
}

const listWorkspaces = tool({
  name: 'list_workspaces',
  title: 'List workspaces',
  description: `Lists up to ${workspacesMax} workspaces that the credential can read, with their IDs and names.`,
  input: Type.Object({}, { additionalProperties: false }),
  async run({ ask }) {
    const found = await ask('GET', urlOf('/v3/workspaces', { size: workspacesMax }));
    const { content, totalElements } = found as Listed;
    return {
      total: totalElements,
      workspaces: content.map((one) => membersOf(one, ['id', 'name'])),
    };
  },
});

const shownOfDevice = [
  'id',
  'deviceId',
  'name',
  'description',
  'workspaceId',
  'connectivity',
  'dataFlowId',
  'online',
  'onlineState',
  'uplinkMetrics',
  'tags',
  'created',
];

const findDevices = tool({
  name: 'find_devices',
  title: 'Find devices',
  description: `Devices by a part of their name or id, and by whether they are online. Returns at most ${devicesMax}, and how many there are. \`id\` is what other tools take, \`deviceId\` is the physical id.`,
  input: Type.Object(
    {
      workspaceId,
      search: Type.Optional(
        Type.String({ maxLength: 200, description: 'Search text for name or ID' }),
      ),
      online: Type.Optional(Type.Boolean()),
      limit: Type.Optional(Type.Integer({ minimum: 1, maximum: devicesMax })),
    },
    { additionalProperties: false },
  ),
  async run(caller, { workspaceId: named, search, online, limit = 20 }) {
    const workspaceIds = named === undefined ? caller.workspaceIds : [named];
    const place =
      workspaceIds === undefined
        ? { organizationId: caller.organizationId }
        : { workspaceIds: workspaceIds.join(',') };
    const query = { ...place, search, online, size: limit };
    const found = (await caller.ask('GET', urlOf('/v3/assets', query))) as Listed;
    const devices = found.content.map((device) => membersOf(device, shownOfDevice));
    return { total: found.totalElements, devices };
  },
});

const describeDevice = tool({
  name: 'describe_device',
  title: 'Describe device data',
  description:
    'Returns a device and the JSON Schema of its data per topic. Call it before query_samples and summarize.',
  input: Type.Object({ deviceId }, { additionalProperties: false }),
  async run({ ask }, { deviceId: id }) {
    const path = `/v3/devices/${encodeURIComponent(id)}`;
    const device = membersOf(await ask('GET', path), shownOfDevice);
    return { device, schemas: await ask('GET', `${path}/infer-schema`) };
  },
});

const readLog = tool({
  name: 'read_log',
  title: 'Read the processing log',
  description:
    'Processing log of a device, newest first: decoder errors, corrected values, and failed deliveries.',
  input: Type.Object(
    {
      deviceId,
      level: Type.Optional(Type.Enum(['INFO', 'WARN', 'ERROR'])),
      limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 100 })),
    },
    { additionalProperties: false },
  ),
  async run({ ask }, { deviceId: id, level, limit = 20 }) {
    const path = `/v3/devices/${encodeURIComponent(id)}/processing-logs`;
    const found = (await ask('GET', urlOf(path, { level, size: limit }))) as Listed;
    return { total: found.totalElements, entries: found.content };
  },
});

const why = tool({
  name: 'why',
  title: 'Say why there is nothing',
  description:
    'Follows the last uplink of a device, or the named one, from its arrival to its deliveries, and says where it broke and what to do. Name the rule or output that was expected to act.',
  input: Type.Object(
    {
      deviceId,
      correlationId: Type.Optional(Type.String({ maxLength: 500 })),
      at: Type.Optional(
        Type.String({ maxLength: 40, description: 'The newest uplink until then, ISO 8601' }),
      ),
      topic: Type.Optional(Type.String({ maxLength: 500 })),
      dataKey: Type.Optional(Type.String({ maxLength: 500 })),
      ruleId: Type.Optional(Type.String({ maxLength: 500 })),
      outputConnectorId: Type.Optional(Type.String({ maxLength: 500 })),
    },
    { additionalProperties: false },
  ),
  run: ({ ask }, { deviceId: id, ...asked }) =>
    ask('GET', urlOf(`/v3/devices/${encodeURIComponent(id)}/trace`, asked)),
});

const deviceTools: readonly Tool[] = [listWorkspaces, findDevices, describeDevice, readLog, why];

// Sample tools: stored samples, the newest values of many devices, and summaries.

const time = (description: string) =>
  Type.String({
    maxLength: 40,
    description: `${description}, ISO 8601 such as 2026-01-31T08:00:00Z`,
  });
const topic = Type.Optional(
  Type.String({ maxLength: 1_000, description: 'Topic of the samples. Defaults to `default`.' }),
);

const querySamples = tool({
  name: 'query_samples',
  title: 'Query samples',
  description: 'Returns up to 500 stored samples of a device, newest first.',
  input: Type.Object(
    {
      deviceId,
      topic: Type.Optional(
        Type.String({ maxLength: 1_000, description: 'One topic; all when absent' }),
      ),
      from: Type.Optional(time('Inclusive')),
      to: Type.Optional(time('Exclusive')),
      limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 500 })),
    },
    { additionalProperties: false },
  ),
  async run({ ask }, { deviceId: id, topic: asked = '*', from, to, limit = 50 }) {
    const timestamp = {
      ...(from !== undefined && { gte: from }),
      ...(to !== undefined && { lt: to }),
    };
    const path = `/v3/devices/${encodeURIComponent(id)}/query`;
    return ask('POST', path, { topic: asked, limit, timestamp });
  },
});

const latestSamples = tool({
  name: 'latest_samples',
  title: 'Latest samples',
  description:
    'Returns the newest sample per topic for up to 50 devices, now or at a past time (at). Unknown devices are omitted.',
  input: Type.Object(
    {
      deviceIds: Type.Array(deviceId, { minItems: 1, maxItems: 50 }),
      at: Type.Optional(
        Type.String({
          maxLength: 40,
          description:
            'ISO-8601 date-time: the samples that were the newest at that time, from 7 days before on',
        }),
      ),
    },
    { additionalProperties: false },
  ),
  async run({ ask }, { deviceIds, at }) {
    const found = await ask('POST', '/v3/devices/query/latest', {
      deviceIds,
      ...(at !== undefined && { at }),
      size: deviceIds.length,
    });
    return (found as { readonly content: unknown }).content;
  },
});

const summarize = tool({
  name: 'summarize',
  title: 'Summarize values',
  description:
    'Calculates one value over a time range, such as the average of a key, or with bucketInterval one value per bucket (at most 1,000).',
  input: Type.Object(
    {
      deviceId,
      topic,
      dataKey: Type.Optional(
        Type.String({ maxLength: 1_000, description: 'Data key. Use dots for nested keys.' }),
      ),
      expression: Type.Optional(
        Type.String({
          maxLength: 2_000,
          description:
            'Formula in place of dataKey, such as temperature * 9 / 5 + 32 or avgOver(temperature, "PT1H")',
        }),
      ),
      accumulator: Type.String({
        maxLength: 40,
        description:
          'MIN, MAX, AVG, SUM, COUNT, FIRST, LAST, DISTINCT_COUNT, OCCUPANCY, STDDEV, MEDIAN, P95 (any quantile), MODE; consumption of a counter: INCREASE; also DELTA, RATE, INTEGRAL, TIME_WEIGHTED_AVG, DURATION_TRUE or TIME_IN_STATE (needs state), in seconds',
      }),
      state: Type.Optional(
        Type.Union([Type.String({ maxLength: 1_000 }), Type.Number(), Type.Boolean()], {
          description: 'Value that TIME_IN_STATE looks for',
        }),
      ),
      per: Type.Optional(
        Type.String({
          maxLength: 40,
          description: 'Unit of time of RATE (PT1S when absent) and INTEGRAL (PT1H)',
        }),
      ),
      from: time('Inclusive'),
      to: time('Exclusive'),
      bucketInterval: Type.Optional(
        Type.String({ maxLength: 40, description: 'ISO 8601 duration such as PT1H or P1D' }),
      ),
    },
    { additionalProperties: false },
  ),
  async run(
    { ask },
    { deviceId: id, topic: asked = 'default', from, to, bucketInterval, ...what },
  ) {
    const kind = bucketInterval === undefined ? 'kpi' : 'time-series';
    const path = `/v3/devices/${encodeURIComponent(id)}/query/raw/${kind}`;
    const buckets = bucketInterval !== undefined && { bucketInterval };
    return ask('POST', path, { topic: asked, ...what, interval: { from, to }, ...buckets });
  },
});

const expectedRange = tool({
  name: 'expected_range',
  title: 'Expected range',
  description:
    'Returns what is usual for a value in each hour: expected, lower and upper, learned from the 8 weeks before. To find unusual values, compare them with the bounds.',
  input: Type.Object(
    {
      deviceId,
      topic,
      dataKey: Type.String({ maxLength: 1_000 }),
      from: time('Inclusive'),
      to: time('Exclusive, at most 14 days later'),
      sensitivity: Type.Optional(Type.Enum(['LOW', 'MEDIUM', 'HIGH'])),
    },
    { additionalProperties: false },
  ),
  async run({ ask }, { deviceId: id, topic: asked = 'default', from, to, ...what }) {
    if (Date.parse(to) - Date.parse(from) > expectedDaysMax * dayMs)
      throw new ToolRefusal(`The range is limited to ${expectedDaysMax} days`);
    const path = `/v3/devices/${encodeURIComponent(id)}/query/expected`;
    return ask('POST', path, { topic: asked, ...what, interval: { from, to } });
  },
});

const forecast = tool({
  name: 'forecast',
  title: 'Forecast',
  description:
    'Returns for up to 50 devices when a value reaches a target, such as a battery 20, with the period of 80 % probability, or the reason why not.',
  input: Type.Object(
    {
      deviceIds: Type.Array(deviceId, { minItems: 1, maxItems: 50 }),
      topic,
      dataKey: Type.String({ maxLength: 1_000 }),
      target: Type.Number(),
    },
    { additionalProperties: false },
  ),
  async run({ ask }, { deviceIds, topic: asked = 'default', ...what }) {
    const path = urlOf('/v3/devices/query/forecast', { size: deviceIds.length });
    const found = await ask('POST', path, { deviceIds, topic: asked, ...what });
    return (found as { readonly content: unknown }).content;
  },
});

/** More would fill the memory of an assistant. */
const expectedDaysMax = 14;

const sampleTools: readonly Tool[] = [
  querySamples,
  latestSamples,
  summarize,
  expectedRange,
  forecast,
];

// Script tools: decoders and rules, which are read and tried out, and never stored.

const id = Type.String({ minLength: 1, maxLength: 100, pattern: idPattern });

const readDecoder = tool({
  name: 'read_decoder',
  title: 'Read a decoder',
  description:
    'The scripts of a device type, by its id or by a device that uses it: uplinkScript turns payloads into samples, and formulas in calculatedKeys add keys to them. To explain a decoder, read it and try it with run_decoder.',
  input: Type.Object(
    { deviceTypeId: Type.Optional(id), deviceId: Type.Optional(deviceId) },
    { additionalProperties: false, minProperties: 1, maxProperties: 1 },
  ),
  async run({ ask }, { deviceTypeId, deviceId: device }) {
    const typeId = deviceTypeId ?? (await typeOf(String(device)));
    const type = await ask('GET', `/v3/device-types/${encodeURIComponent(typeId)}`);
    const shown = [
      ...['id', 'name', 'meta', 'uplinkScript', 'downlinkScript', 'schemas', 'libraries'],
      'calculatedKeys',
    ];
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
      event: Type.Optional(
        Type.Unsafe<JsonObject>({
          type: 'object',
          description:
            'What consume gets, such as {"data": {"payloadHex": "01a4", "port": 1}, "state": {}}. Defaults to {}.',
        }),
      ),
      payload: Type.Optional(scriptPayload),
    },
    { additionalProperties: false },
  ),
  run: ({ ask }, { script, event = {}, payload }) =>
    ask('POST', '/v3/run-script', { script, event, ...(payload !== undefined && { payload }) }),
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

const scriptTools: readonly Tool[] = [readDecoder, runDecoder, draftRule];

const tools: readonly Tool[] = [...deviceTools, ...sampleTools, ...scriptTools];

const mcpLimits = {
  /** Characters of a result: more would fill the context of the model. */
  resultCharactersMax: 100_000,
} as const;

const instructions =
  'Heliograph is an IoT device data platform. Start with list_workspaces or find_devices, then call describe_device. All tools are read-only; timestamps are ISO 8601 in UTC.';

/** Every request gets a server of its tools, which ask with its credential. */
export class McpHandler {
  readonly #version: string;
  readonly #failed: (error: unknown) => void;
  readonly #described = tools.map((tool) => ({
    tool,
    inputSchema: fromJsonSchema(JSON.parse(JSON.stringify(tool.input)) as JsonSchemaType),
  }));
  readonly #lists = new ToolLists((request, body, caller) => this.#serve(request, body, caller));
  /** `body` is the parsed body of the request. */
  readonly answer = async (
    request: Request,
    body: unknown,
    caller: ToolCaller,
  ): Promise<Response> => {
    const id = idOfList(body);
    const listed = id === undefined ? undefined : await this.#lists.answer(request, id, caller);
    return listed ?? this.#serve(request, body, caller);
  };

  constructor({
    version,
    failed,
  }: {
    readonly version: string;
    /** Reports an exception, which the assistant must not read. */
    readonly failed: (error: unknown) => void;
  }) {
    this.#version = version;
    this.#failed = failed;
  }

  async #serve(request: Request, body: unknown, caller: ToolCaller): Promise<Response> {
    // Nothing changes while the platform runs, so no stream of changes is opened.
    const options = { maxSubscriptions: 0, onerror: this.#failed } as const;
    const handler = createHandler(() => this.#serverFor(caller), options);
    return handler.fetch(request, { parsedBody: body });
  }

  #serverFor(caller: ToolCaller): McpServer {
    const server = new McpServer({ name: 'heliograph', version: this.#version }, { instructions });
    for (const { tool, inputSchema } of this.#described) {
      const { name, title, description } = tool;
      const annotations = {
        title,
        readOnlyHint: true,
        destructiveHint: false,
        openWorldHint: false,
      };
      const config = { title, description, inputSchema, annotations };
      server.registerTool(name, config, (input) =>
        resultOf(() => tool.run(caller, input), this.#failed),
      );
    }
    return server;
  }
}

// Lists of tools: every assistant asks for one first, and it is the same for all.

const listMethod = 'tools/list';
const listMembers: ReadonlySet<string> = new Set(['jsonrpc', 'id', 'method', 'params']);
/** Stands for the id of the request in the answer that is kept. */
const anyId = 'id of a request for the list of tools';
const listsMax = 20;
const headersLengthMax = 500;

/** Undefined for any other request, and for one that asks for more than the list. */
function idOfList(body: unknown): string | number | undefined {
  if (typeof body !== 'object' || body === null) return undefined;
  const { jsonrpc, id, method, params = {} } = body as Readonly<Record<string, unknown>>;
  if (jsonrpc !== '2.0' || method !== listMethod) return undefined;
  if (typeof params !== 'object' || params === null || Object.keys(params).length > 0)
    return undefined;
  if (!Object.keys(body).every((name) => listMembers.has(name))) return undefined;
  return typeof id === 'string' || Number.isSafeInteger(id) ? (id as string | number) : undefined;
}

interface ToolList {
  readonly headers: Headers;
  /** The answer before and behind the id. */
  readonly before: string;
  readonly behind: string;
}

/** Answers to requests for the list of tools, by the headers that the protocol reads. */
class ToolLists {
  readonly #answer: McpHandler['answer'];
  readonly #made = new Map<string, Promise<ToolList | undefined>>();

  constructor(answer: McpHandler['answer']) {
    this.#answer = answer;
  }

  /** Undefined when the list cannot be kept for such a request. */
  async answer(
    request: Request,
    id: string | number,
    caller: ToolCaller,
  ): Promise<Response | undefined> {
    const key = JSON.stringify([...request.headers]);
    let making = this.#made.get(key);
    if (making === undefined) {
      if (this.#made.size >= listsMax || key.length > headersLengthMax) return undefined;
      making = this.#make(request, caller);
      this.#made.set(key, making);
      making.catch(() => this.#made.delete(key));
    }
    const list = await making;
    if (list === undefined) return undefined;
    const body = `${list.before}${JSON.stringify(id)}${list.behind}`;
    return new Response(body, { headers: list.headers });
  }

  async #make(
    { url, method, headers }: Request,
    caller: ToolCaller,
  ): Promise<ToolList | undefined> {
    // The sender of the first request may leave before it is answered.
    const request = new Request(url, { method, headers });
    const body = { jsonrpc: '2.0', id: anyId, method: listMethod };
    const made = await this.#answer(request, body, caller);
    const [before, behind, more] = (await made.text()).split(JSON.stringify(anyId));
    const isList = made.status === 200 && more === undefined;
    if (!isList || before === undefined || behind === undefined) return undefined;
    return { headers: made.headers, before, behind };
  }
}

/** The result as JSON. The words of an exception stay here. */
async function resultOf(run: () => Promise<unknown>, failed: (error: unknown) => void) {
  try {
    const json = JSON.stringify(await run());
    if (json.length <= mcpLimits.resultCharactersMax) return { content: [textOf(json)] };
    return refusal(
      `The result has ${json.length} characters; the maximum is ${mcpLimits.resultCharactersMax}. Request fewer devices or samples, or a shorter interval.`,
    );
  } catch (error) {
    if (error instanceof ToolRefusal) return refusal(error.message);
    failed(error);
    return refusal('Internal error. See the platform log.');
  }
}

function refusal(message: string) {
  return { isError: true, content: [textOf(message)] };
}

function textOf(text: string) {
  return { type: 'text', text } as const;
}
