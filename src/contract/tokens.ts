// Schemas and endpoints of the token service (interface 4.10).
import Type from 'typebox';
import { tokenPaths } from '../model/credential.ts';
import { endpoint } from './endpoint.ts';
import { tokenRefusal } from './error.ts';
import { namedObject } from './named.ts';

const issuedTokenSchema = namedObject('IssuedToken', {
  access_token: Type.String({
    description: 'JWT access token. Send it as `Authorization: Bearer`.',
  }),
  expires_in: Type.Integer({
    description: 'Lifetime of the token in seconds.',
  }),
  token_type: Type.Literal('Bearer'),
});

const tokenForm = namedObject('TokenForm', {
  grant_type: Type.Literal('client_credentials'),
  client_id: Type.Optional(Type.String({ description: 'Client ID. Not needed with HTTP Basic.' })),
  client_secret: Type.Optional(
    Type.String({ description: 'Client ID. Not needed with HTTP Basic.' }),
  ),
});

const texts = Type.Array(Type.String());

const discoverySchema = namedObject('TokenDiscovery', {
  issuer: Type.String(),
  token_endpoint: Type.String(),
  jwks_uri: Type.String(),
  grant_types_supported: texts,
  response_types_supported: texts,
  token_endpoint_auth_methods_supported: texts,
  token_endpoint_auth_signing_alg_values_supported: texts,
  id_token_signing_alg_values_supported: texts,
  subject_types_supported: texts,
});

const keySetSchema = namedObject('KeySet', {
  keys: Type.Array(
    Type.Object({
      kty: Type.String(),
      crv: Type.String(),
      x: Type.String(),
      y: Type.String(),
      kid: Type.String(),
      alg: Type.String(),
      use: Type.String(),
    }),
  ),
});

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
