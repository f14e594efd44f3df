// Endpoints of the token service (interface 4.10).
import { tokenPaths } from '../../model/token-paths.ts';
import { endpoint } from '../endpoint.ts';
import { tokenRefusal } from '../error.ts';
import { discoverySchema, issuedTokenSchema, keySetSchema, tokenForm } from '../token.ts';

const tag = 'Tokens';
const formBytesMax = 16 * 1024;

export const tokenService = {
  issue: endpoint({
    method: 'POST',
    path: tokenPaths.token,
    summary: 'Get an access token by client credentials, sent as form fields or by HTTP Basic',
    tag,
    access: { open: 'the client credentials in the request are checked by the handler' },
    form: true,
    bodyTypes: { 'application/x-www-form-urlencoded': tokenForm },
    bodyBytesMax: formBytesMax,
    response: issuedTokenSchema,
    refusalSchema: tokenRefusal,
  }),
  discovery: endpoint({
    method: 'GET',
    path: tokenPaths.discovery,
    summary: 'Where the token service is and what it can do',
    tag,
    access: { open: 'clients read it before they have any credential' },
    response: discoverySchema,
  }),
  keys: endpoint({
    method: 'GET',
    path: tokenPaths.keys,
    summary: 'Public keys that access tokens are signed with',
    tag,
    access: { open: 'public keys are public' },
    response: keySetSchema,
  }),
} as const;
