// Endpoints for assistants: the Model Context Protocol.
import Type from 'typebox';
import type { Json } from '../../model/json.ts';
import { endpoint } from '../endpoint.ts';

const anything = Type.Unsafe<Json>({ description: 'JSON-RPC of the protocol' });

export const assistants = {
  mcp: endpoint({
    method: 'POST',
    path: '/mcp',
    summary: 'Model Context Protocol: tools that read, with the permissions of the credential',
    tag: 'Assistants',
    access: {
      anyCredential:
        'Each tool makes requests with the credential, which are checked as any other.',
    },
    needsAlso: 'An API key or an access token; the session of a user is refused.',
    withoutCredential: 'assistantCredential',
    body: anything,
    bodyBytesMax: 1024 * 1024,
    refusalSchema: Type.Unsafe<Json>({
      description: 'An error of the interface, or one of JSON-RPC',
    }),
    answerTypes: { 'application/json': anything, 'text/event-stream': Type.String() },
  }),
} as const;
