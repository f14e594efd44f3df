// API schemas of API keys; only the answer to creation has the secret (interface 2.6, 2.7, contract 23).
import Type from 'typebox';
import { grantDraft, grantFields } from './grant.ts';
import { listParameters } from './list-parameters.ts';
import { id, name, optional, orNull, text, time } from './record-fields.ts';
import { namedObject } from './named.ts';

const fields = {
  id,
  name,
  description: orNull(text),
  ...grantFields,
  secretPrefix: Type.String({ description: 'First characters of the secret.' }),
  created: time,
  lastUsed: orNull(time),
  expiration: orNull(
    Type.String({
      format: 'date-time',
      description: 'Expiration time, or null if the key does not expire.',
    }),
  ),
};

export const apiKeySchema = namedObject('ApiKey', fields);
export const createdApiKeySchema = namedObject('CreatedApiKey', {
  ...fields,
  secret: Type.String({ description: 'Returned only in this response.' }),
});

export const apiKeyDraft = namedObject('ApiKeyDraft', {
  name,
  description: optional(text),
  ...grantDraft,
  expiration: optional(
    Type.String({
      maxLength: 100,
      description:
        'Expiration time, a future ISO-8601 date-time. Without it, the key does not expire.',
    }),
  ),
});

export const apiKeyListQuery = Type.Object({
  ...listParameters(['id', 'name', 'description', 'created', 'lastUsed', 'expiration']),
  organizationId: Type.Optional(Type.String()),
});
