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
    summary: 'Get an access token',
    description:
      'Exchanges client credentials, sent as form fields or HTTP Basic, for a 15-minute access token.',
    tag,
    access: { open: 'Authenticated by the client ID and client secret in the request.' },
    form: true,
    bodyTypes: { 'application/x-www-form-urlencoded': tokenForm },
    bodyBytesMax: formBytesMax,
    response: issuedTokenSchema,
    refusalSchema: tokenRefusal,
  }),
  discovery: endpoint({
    method: 'GET',
    path: tokenPaths.discovery,
    summary: 'Get OpenID discovery metadata',
    description: 'Returns the endpoints and capabilities of the token service.',
    tag,
    access: { open: 'No authentication.' },
    response: discoverySchema,
  }),
  keys: endpoint({
    method: 'GET',
    path: tokenPaths.keys,
    summary: 'Get token signing keys',
    description: 'Returns the public keys (JWKS) that verify access tokens.',
    tag,
    access: { open: 'No authentication.' },
    response: keySetSchema,
  }),
} as const;
