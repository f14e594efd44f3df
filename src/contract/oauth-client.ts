// API schemas of OAuth clients; only the answers to creation and rotation have the secret (interface 2.5, contract 24).
import Type from 'typebox';
import { grantDraft, grantFields } from './grant.ts';
import { id, list, name, optional, orNull, text, time } from './record-fields.ts';
import { namedObject } from './named.ts';

const clientId = Type.String({ description: 'Client ID for the token endpoint.' });
const clientSecret = Type.String({ description: 'Returned only in this response.' });

const fields = {
  id,
  name,
  description: orNull(text),
  ...grantFields,
  clientId,
  tokenUrl: Type.String({ description: 'Token endpoint URL.' }),
  created: time,
};

export const oauthClientSchema = namedObject('OAuthClient', fields);
export const oauthClientListSchema = list(oauthClientSchema);
export const createdOAuthClientSchema = namedObject('CreatedOAuthClient', {
  ...fields,
  clientSecret,
});
export const rotatedSecretSchema = namedObject('RotatedSecret', { id, clientId, clientSecret });

export const oauthClientDraft = namedObject('OAuthClientDraft', {
  name,
  description: optional(text),
  ...grantDraft,
});
export const oauthClientListQuery = Type.Object({ organizationId: Type.Optional(Type.String()) });
