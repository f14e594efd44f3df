// MCP handler: serves the tools to assistants over streamable HTTP, without sessions, in both generations of the protocol.
import {
  createMcpHandler as createHandler,
  fromJsonSchema,
  type JsonSchemaType,
  McpServer,
} from '@modelcontextprotocol/server';
import { deviceTools } from './device-tools.ts';
import { sampleTools } from './sample-tools.ts';
import { scriptTools } from './script-tools.ts';
import { type Tool, type ToolCaller, ToolRefusal } from './tool.ts';

const tools: readonly Tool[] = [...deviceTools, ...sampleTools, ...scriptTools];

const mcpLimits = {
  /** Characters of a result: more would fill the context of the model. */
  resultCharactersMax: 100_000,
} as const;

const instructions =
  'Heliograph is an IoT device data platform. Start with list_workspaces or find_devices, then call describe_device. All tools are read-only; timestamps are ISO 8601 in UTC.';

export interface McpHandler {
  /** `body` is the parsed body of the request. */
  readonly answer: (request: Request, body: unknown, caller: ToolCaller) => Promise<Response>;
}

export interface McpHandlerParts {
  readonly version: string;
  /** Reports an exception, which the assistant must not read. */
  readonly failed: (error: unknown) => void;
}

/** Creates the handler. Every request gets a server of its tools, which ask with its credential. */
export function createMcpHandler({ version, failed }: McpHandlerParts): McpHandler {
  const described = tools.map((tool) => ({
    tool,
    inputSchema: fromJsonSchema(JSON.parse(JSON.stringify(tool.input)) as JsonSchemaType),
  }));

  function serverFor(caller: ToolCaller): McpServer {
    const server = new McpServer({ name: 'heliograph', version }, { instructions });
    for (const { tool, inputSchema } of described) {
      const { name, title, description } = tool;
      const annotations = {
        title,
        readOnlyHint: true,
        destructiveHint: false,
        openWorldHint: false,
      };
      const config = { title, description, inputSchema, annotations };
      server.registerTool(name, config, (input) => resultOf(() => tool.run(caller, input), failed));
    }
    return server;
  }

  return {
    async answer(request, body, caller) {
      // Nothing changes while the platform runs, so no stream of changes is opened.
      const options = { maxSubscriptions: 0, onerror: failed } as const;
      const handler = createHandler(() => serverFor(caller), options);
      return handler.fetch(request, { parsedBody: body });
    },
  };
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
