// The wire form of OAuth clients; the secret is in the answers to creation and rotation alone (interface 2.5, contract 24).
import Type from 'typebox';
import { grantDraft, grantFields } from './grant.ts';
import { id, list, name, optional, orNull, text, time } from './record-fields.ts';

const clientId = Type.String({ description: 'What the client calls itself at the token endpoint' });
const clientSecret = Type.String({ description: 'Shown this once' });

const fields = {
  id,
  name,
  description: orNull(text),
  ...grantFields,
  clientId,
  tokenUrl: Type.String({ description: 'Where the client gets its tokens' }),
  created: time,
};

export const oauthClientSchema = Type.Object(fields);
export const oauthClientListSchema = list(oauthClientSchema);
export const createdOAuthClientSchema = Type.Object({ ...fields, clientSecret });
export const rotatedSecretSchema = Type.Object({ id, clientId, clientSecret });

export const oauthClientDraft = Type.Object({ name, description: optional(text), ...grantDraft });
export const oauthClientListQuery = Type.Object({ organizationId: Type.Optional(Type.String()) });
