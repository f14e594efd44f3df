// API schemas of the token service: tokens, errors, discovery and published keys (interface 4.10, contract 25).
import Type from 'typebox';
import { namedObject } from './named.ts';

export const issuedTokenSchema = namedObject('IssuedToken', {
  access_token: Type.String({
    description: 'JWT access token. Send it as `Authorization: Bearer`.',
  }),
  expires_in: Type.Integer({
    description: 'Lifetime of the token in seconds.',
  }),
  token_type: Type.Literal('Bearer'),
});

export const tokenForm = namedObject('TokenForm', {
  grant_type: Type.Literal('client_credentials'),
  client_id: Type.Optional(Type.String({ description: 'Client ID. Not needed with HTTP Basic.' })),
  client_secret: Type.Optional(
    Type.String({ description: 'Client ID. Not needed with HTTP Basic.' }),
  ),
});

const texts = Type.Array(Type.String());

export const discoverySchema = namedObject('TokenDiscovery', {
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

export const keySetSchema = namedObject('KeySet', {
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
