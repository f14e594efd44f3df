// Properties of the output connectors that send messages or write samples, as they are stored (contract 9).
// They are type aliases, not interfaces, because stored properties are JSON objects.

export const webhookMethods = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const;
export const webhookAuthTypes = ['BEARER', 'HEADER', 'BASIC', 'NONE', 'OAUTH2'] as const;

/** What a token service needs to give a token. */
export type ClientCredentials = {
  readonly tokenUrl: string;
  readonly clientId: string;
  readonly clientSecret: string;
  readonly scope: string | null;
};

export type WebhookProperties = {
  /** A template; scheme and host are fixed. */
  readonly uri: string;
  readonly method: (typeof webhookMethods)[number];
  readonly contentType: 'JSON';
  readonly headers: Readonly<Record<string, string>>;
  readonly authType: (typeof webhookAuthTypes)[number];
  readonly authHeaders: Readonly<Record<string, string>>;
  /** `user:password`. */
  readonly basicCredentials: string | null;
  readonly bearerToken: string | null;
  readonly oauth2: ClientCredentials | null;
  /** With one, every body is signed. */
  readonly hmacSecret: string | null;
  readonly hmacHeader: string;
  /** In PEM; null for the public authorities. */
  readonly caCertificate: string | null;
  /** Where old clients put the template that has its place in the connector now. */
  readonly customPayload: string | null;
  readonly useCustomPayload: boolean;
};

export type MailProperties = {
  readonly subjectTemplate: string;
  readonly messageTemplate: string;
  readonly recipients: readonly string[];
};

export type SmsProperties = {
  readonly messageText: string;
  readonly recipientPhones: readonly { readonly prefix: string; readonly phone: string }[];
};

export type SlackProperties = { readonly message: string; readonly webhookUrl: string };
export type MsTeamsProperties = { readonly message: string; readonly notificationUrl: string };

export type CustomDatabaseProperties = {
  readonly topic: string;
  readonly targetDeviceId: string | null;
  /** Writes to the device whose sample it is. */
  readonly useCurrentDevice: boolean;
};
