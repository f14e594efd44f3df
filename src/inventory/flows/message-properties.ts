// Checks the properties of output connectors that send messages or write samples, and fills in what was left out (contract 9).
import { isJsonObject } from '../../model/json.ts';
import {
  type ClientCredentials,
  type CustomDatabaseProperties,
  type MailProperties,
  type MsTeamsProperties,
  type SlackProperties,
  type SmsProperties,
  webhookAuthTypes,
  webhookMethods,
  type WebhookProperties,
} from '../../model/message-properties.ts';
import type { PropertyReader } from '../../connectors/property-parser.ts';

const recipientsMax = 50;
const hmacHeaderDefault = 'X-Signature';

export function readCustomDatabase(sent: PropertyReader): CustomDatabaseProperties {
  const topic = sent.needed('topic');
  const targetDeviceId = sent.text('targetDeviceId');
  const useCurrentDevice = sent.flag('useCurrentDevice', targetDeviceId === null);
  if (!useCurrentDevice && targetDeviceId === null) {
    sent.refuse('targetDeviceId', 'is needed when useCurrentDevice is false');
  }
  return { topic, targetDeviceId, useCurrentDevice };
}

export function readWebhook(sent: PropertyReader): WebhookProperties {
  const uri = sent.needed('uri');
  const url = URL.parse(uri);
  if (url?.protocol !== 'http:' && url?.protocol !== 'https:')
    sent.refuse('uri', 'must be an http or https URL');
  const webhook: WebhookProperties = {
    uri,
    method: sent.oneOf('method', webhookMethods, 'POST'),
    contentType: sent.oneOf('contentType', ['JSON'], 'JSON'),
    headers: sent.texts('headers'),
    authType: sent.oneOf('authType', webhookAuthTypes, 'NONE'),
    authHeaders: sent.texts('authHeaders'),
    basicCredentials: sent.text('basicCredentials'),
    bearerToken: sent.text('bearerToken'),
    oauth2: readClientCredentials(sent.nested('oauth2')),
    hmacSecret: sent.text('hmacSecret'),
    hmacHeader: sent.text('hmacHeader') ?? hmacHeaderDefault,
    caCertificate: sent.text('caCertificate'),
    customPayload: sent.text('customPayload'),
    useCustomPayload: sent.flag('useCustomPayload'),
  };
  const { authType, bearerToken, basicCredentials, oauth2, hmacHeader } = webhook;
  if (authType === 'BEARER' && bearerToken === null)
    sent.refuse('bearerToken', 'is needed for BEARER');
  if (authType === 'BASIC' && !basicCredentials?.includes(':')) {
    sent.refuse('basicCredentials', 'must be user:password for BASIC');
  }
  if (authType === 'OAUTH2' && oauth2 === null) sent.refuse('oauth2', 'is needed for OAUTH2');
  if (!/^[A-Za-z0-9-]{1,100}$/.test(hmacHeader))
    sent.refuse('hmacHeader', 'must be the name of a header');
  return webhook;
}

function readClientCredentials(sent: PropertyReader | undefined): ClientCredentials | null {
  if (sent === undefined) return null;
  return {
    tokenUrl: sent.needed('tokenUrl'),
    clientId: sent.needed('clientId'),
    clientSecret: sent.needed('clientSecret'),
    scope: sent.text('scope'),
  };
}

export function readMail(sent: PropertyReader): MailProperties {
  const recipients = sent.list('recipients', recipientsMax).map((recipient, i) => {
    const isAddress =
      typeof recipient === 'string' && /^[^\s@<>,;"]+@[^\s@<>,;"]+$/.test(recipient);
    return isAddress ? recipient : sent.refuse(`recipients.${i}`, 'must be an e-mail address');
  });
  return {
    subjectTemplate: sent.needed('subjectTemplate'),
    messageTemplate: sent.needed('messageTemplate'),
    recipients,
  };
}

export function readSms(sent: PropertyReader): SmsProperties {
  const recipientPhones = sent.list('recipientPhones', recipientsMax).map((recipient, i) => {
    const { prefix, phone } = isJsonObject(recipient) ? recipient : {};
    if (typeof prefix !== 'string' || !/^\+?\d{1,4}$/.test(prefix)) {
      return sent.refuse(`recipientPhones.${i}.prefix`, 'must be a country code such as +41');
    }
    if (typeof phone !== 'string' || !/^[\d\s()/-]{3,20}$/.test(phone)) {
      return sent.refuse(`recipientPhones.${i}.phone`, 'must be a phone number');
    }
    return { prefix: prefix.startsWith('+') ? prefix : `+${prefix}`, phone };
  });
  return { messageText: sent.needed('messageText'), recipientPhones };
}

export function readSlack(sent: PropertyReader): SlackProperties {
  return { message: sent.needed('message'), webhookUrl: sent.needed('webhookUrl') };
}

export function readMsTeams(sent: PropertyReader): MsTeamsProperties {
  return { message: sent.needed('message'), notificationUrl: sent.needed('notificationUrl') };
}
