// Endpoints for assistants: the Model Context Protocol.
import Type from 'typebox';
import type { Json } from '../model/json.ts';
import { endpoint } from './endpoint.ts';

const anything = Type.Unsafe<Json>({ description: 'JSON-RPC message.' });

export const assistants = {
  mcp: endpoint({
    method: 'POST',
    path: '/mcp',
    summary: 'Call the MCP server',
    description:
      'Handles Model Context Protocol requests: read-only tools that run with the permissions of the credential.',
    tag: 'Assistants',
    access: {
      anyCredential: 'Any valid API key or access token. User sessions are rejected.',
    },
    withoutCredential: 'assistantCredential',
    body: anything,
    bodyBytesMax: 1024 * 1024,
    refusalSchema: Type.Unsafe<Json>({
      description: 'An error of the interface, or one of JSON-RPC',
    }),
    answerTypes: { 'application/json': anything, 'text/event-stream': Type.String() },
  }),
} as const;
