// Problem table: one stable code, one status and one message per problem, by area.

interface ProblemRow {
  readonly status: number;
  /** `<status><two digits>_<NAME>`, never reused with another meaning (contract 0.2). */
  readonly code: string;
  readonly message: string | ((details: never) => string);
}

// Problems of HTTP requests that do not depend on the endpoint.

const requestProblems = {
  invalidJson: {
    status: 400,
    code: '40000_INVALID_JSON',
    message: (d: { reason: string }) => `Invalid JSON: ${d.reason}`,
  },
  invalidRequest: {
    status: 400,
    code: '40001_INVALID_REQUEST',
    message: (d: { reason: string }) => d.reason,
  },
  notUtf8: {
    status: 400,
    code: '40005_NOT_UTF8',
    message: (d: { byte: number }) =>
      `The body is not UTF-8: byte ${d.byte} belongs to no character of it`,
  },
  compressedBodyInvalid: {
    status: 400,
    code: '40083_COMPRESSED_BODY_INVALID',
    message: (d: { reason: string }) => `The compressed body is invalid: ${d.reason}`,
  },
  unknownSortField: {
    status: 400,
    code: '40037_UNKNOWN_SORT_FIELD',
    message: (d: { fields: readonly string[]; known: readonly string[] }) =>
      `query sort: cannot sort by ${d.fields.join(', ')}. Valid fields: ${d.known.join(', ')}.`,
  },
  notFound: {
    status: 404,
    code: '40400_NOT_FOUND',
    message: (d: { what: string; id: string }) => `No ${d.what} with id ${d.id}`,
  },
  linkUnknown: {
    status: 404,
    code: '40402_LINK_UNKNOWN',
    message: 'This link is invalid or has expired.',
  },
  noSuchRoute: {
    status: 404,
    code: '40401_NO_SUCH_ROUTE',
    message: (d: { method: string; path: string }) => `No such endpoint: ${d.method} ${d.path}`,
  },
  methodNotAllowed: {
    status: 405,
    code: '40500_METHOD_NOT_ALLOWED',
    message: (d: { method: string; path: string; allow: string }) =>
      `${d.path} does not support ${d.method}. Allowed methods: ${d.allow}.`,
  },
  requestTimeout: {
    status: 408,
    code: '40800_REQUEST_TIMEOUT',
    message: 'The request timed out before it was received completely',
  },
  payloadTooLarge: {
    status: 413,
    code: '41300_PAYLOAD_TOO_LARGE',
    message: (d: { bytesMax: number }) => `The body exceeds ${d.bytesMax} bytes`,
  },
  unsupportedMediaType: {
    status: 415,
    code: '41500_UNSUPPORTED_MEDIA_TYPE',
    message: (d: { contentType: string; supported?: string }) =>
      `Content type ${d.contentType} is not supported. Use ${d.supported ?? 'application/json'}.`,
  },
  contentEncodingUnsupported: {
    status: 415,
    code: '41571_CONTENT_ENCODING_UNSUPPORTED',
    message: (d: { coding: string }) =>
      `Content encoding ${d.coding} is not supported. Use gzip, deflate, br, or no coding`,
  },
  expectationUnknown: {
    status: 417,
    code: '41700_EXPECTATION_UNKNOWN',
    message: (d: { expect: string }) =>
      `The header Expect has ${d.expect}; only 100-continue is supported`,
  },
  idempotencyKeyReused: {
    status: 422,
    code: '42200_IDEMPOTENCY_KEY_REUSED',
    message: 'This Idempotency-Key was already used with a different body',
  },
  headersTooLarge: {
    status: 431,
    code: '43100_HEADERS_TOO_LARGE',
    message: 'The request line and headers exceed 16 KiB',
  },
  internal: { status: 500, code: '50000_INTERNAL', message: 'Internal error' },
  stopping: {
    status: 503,
    code: '50301_STOPPING',
    message: 'The platform is shutting down. Try again later.',
  },
} as const satisfies Record<string, ProblemRow>;

// Problems of quotas. `limitName` is the name of the quota in quota.ts.

interface Reached {
  readonly limitName: string;
  readonly limitMax: number;
  /** Whose limit it is: organization, device or uplink. */
  readonly per: string;
  readonly what: string;
}

const reached = ({ limitName, limitMax, per, what }: Reached): string =>
  `Quota reached: ${limitMax} ${what} per ${per} (limit ${limitName})`;

const quotaProblems = {
  /** For stored records: a later request fails too. */
  quotaReached: { status: 409, code: '40910_QUOTA_REACHED', message: reached },
  /** For temporary use: the same request can succeed later. */
  quotaBusy: {
    status: 429,
    code: '42910_QUOTA_BUSY',
    message: (d: Reached & { retryAfterSeconds: number }) =>
      `${reached(d)}. Try again in ${d.retryAfterSeconds} s.`,
  },
} as const satisfies Record<string, ProblemRow>;

// Problems of authentication and permissions.

const accessProblems = {
  invalidPermissions: {
    status: 400,
    code: '40060_INVALID_PERMISSIONS',
    message: (d: { scope: string; verb: string; valid: string }) =>
      `Cannot grant ${d.verb} on ${d.scope}. Valid permissions: ${d.valid}.`,
  },
  passwordTooWeak: {
    status: 400,
    code: '40061_PASSWORD_TOO_WEAK',
    message: (d: { reason: string }) => `The password is too easy to guess: ${d.reason}`,
  },
  wrongPassword: {
    status: 401,
    code: '40160_WRONG_PASSWORD',
    message: 'Incorrect email or password',
  },
  wrongCode: {
    status: 401,
    code: '40161_WRONG_CODE',
    message:
      "The code is incorrect or has already been used. Wait for the next code, and check that your phone's clock is correct.",
  },
  ticketExpired: {
    status: 401,
    code: '40162_TICKET_EXPIRED',
    message: 'The sign-in has expired. Start again with your password.',
  },
  passkeyRefused: {
    status: 401,
    code: '40163_PASSKEY_REFUSED',
    message: (d: { reason: string }) => `The passkey was rejected: ${d.reason}`,
  },
  passkeysOff: {
    status: 403,
    code: '40386_PASSKEYS_OFF',
    message: (d: { publicUrl: string }) =>
      `Passkeys require HTTPS and a host name, but PUBLIC_URL is ${d.publicUrl}`,
  },
  passkeyExists: {
    status: 409,
    code: '40987_PASSKEY_EXISTS',
    message: 'This passkey is already registered',
  },
  tooManyPasskeys: {
    status: 409,
    code: '40988_TOO_MANY_PASSKEYS',
    message: (d: { max: number }) => `You have ${d.max} passkeys, the maximum. Remove one first.`,
  },
  csrfTokenMissing: {
    status: 403,
    code: '40360_CSRF_TOKEN_MISSING',
    message: 'The x-csrf-token header is missing or does not match the csrf cookie',
  },
  roleTooHigh: {
    status: 403,
    code: '40361_ROLE_TOO_HIGH',
    message: (d: { role: string }) =>
      `You cannot grant or revoke the ${d.role} role because it has permissions that you do not have`,
  },
  noOrganization: {
    status: 403,
    code: '40362_NO_ORGANIZATION',
    message: 'You do not belong to an organization',
  },
  invitationTooHigh: {
    status: 403,
    code: '40363_INVITATION_TOO_HIGH',
    message:
      'This person has a pending invitation that grants more permissions than you have. Wait until it is accepted, or ask a member with those permissions.',
  },
  addressNotProven: {
    status: 403,
    code: '40365_ADDRESS_NOT_PROVEN',
    message:
      'Verify your email address before creating an organization. Reset your password by email, or ask the operator.',
  },
  grantTooHigh: {
    status: 403,
    code: '40364_GRANT_TOO_HIGH',
    message: 'You cannot grant permissions or workspaces that you do not have yourself',
  },
  alreadyMember: {
    status: 409,
    code: '40960_ALREADY_MEMBER',
    message: (d: { email: string }) => `${d.email} is already a member. Change the role instead.`,
  },
  lastOwner: {
    status: 409,
    code: '40961_LAST_OWNER',
    message: 'An organization needs at least one owner. Make another member an owner first.',
  },
  rateLimited: {
    status: 429,
    code: '42900_RATE_LIMITED',
    message: (d: { retryAfterSeconds: number }) =>
      `Rate limit exceeded. Try again in ${d.retryAfterSeconds} s.`,
  },
  tooManyAttempts: {
    status: 429,
    code: '42901_TOO_MANY_ATTEMPTS',
    message: (d: { retryAfterSeconds: number }) =>
      `Too many failed attempts. Try again in ${d.retryAfterSeconds} s.`,
  },
  formExpected: {
    status: 415,
    code: '41501_FORM_EXPECTED',
    message: 'Unsupported content type. Send application/x-www-form-urlencoded.',
  },
  unauthorized: { status: 401, code: '40100_UNAUTHORIZED', message: 'Unauthorized' },
  twoCredentials: {
    status: 401,
    code: '40101_TWO_CREDENTIALS',
    message: 'Two authentication headers received',
  },
  invalidToken: { status: 401, code: '40102_INVALID_TOKEN', message: 'invalid token' },
  localSignInOff: {
    status: 403,
    code: '40366_LOCAL_SIGN_IN_OFF',
    message: 'Password sign-in is turned off. Sign in with your identity provider.',
  },
  invitationsOff: {
    status: 403,
    code: '40389_INVITATIONS_OFF',
    message:
      'Invitations are turned off because this installation has no passwords. Assign the role to a group at the identity provider.',
  },
  providerOnly: {
    status: 403,
    code: '40367_PROVIDER_ONLY',
    message:
      'This account has no password because it signs in with the identity provider. Assign the role to one of its groups instead.',
  },
  noEntry: {
    status: 403,
    code: '40368_NO_ENTRY',
    message: 'None of your groups grants access. Ask the operator of this installation.',
  },
  emailNotVerified: {
    status: 403,
    code: '40369_EMAIL_NOT_VERIFIED',
    message: 'The identity provider did not return a verified email address',
  },
  emailTaken: {
    status: 403,
    code: '40374_EMAIL_TAKEN',
    message: 'Another identity at the provider already uses your email address',
  },
  signInExpired: {
    status: 400,
    code: '40062_SIGN_IN_EXPIRED',
    message: 'The sign-in expired or was started in another browser. Start again.',
  },
  secondFactorExists: {
    status: 409,
    code: '40985_SECOND_FACTOR_EXISTS',
    message: 'An authenticator app is already set up. Remove it first.',
  },
  noSecondFactor: {
    status: 409,
    code: '40986_NO_SECOND_FACTOR',
    message: (d: { what: string }) => `No ${d.what} is set up. Set it up first.`,
  },
  secondFactorRequired: {
    status: 403,
    code: '40393_SECOND_FACTOR_REQUIRED',
    message:
      'This organization requires MFA. Set it up at /me/security in the console or with POST /v3/auth/second-factor/app, then continue in this session.',
  },
  ownSecondFactorMissing: {
    status: 409,
    code: '40992_OWN_SECOND_FACTOR_MISSING',
    message: 'You would lock yourself out. Set up MFA for your own account first.',
  },
  secondFactorDemanded: {
    status: 409,
    code: '40993_SECOND_FACTOR_DEMANDED',
    message:
      'This is your last second factor, and one of your organizations requires MFA. Set up another one first.',
  },
  ownSecondFactorReset: {
    status: 403,
    code: '40394_OWN_SECOND_FACTOR_RESET',
    message:
      'You cannot reset your own MFA here. Remove it in your account settings with your password.',
  },
  memberElsewhere: {
    status: 403,
    code: '40395_MEMBER_ELSEWHERE',
    message:
      "You cannot reset this member's MFA because they also belong to organizations that you do not administer. Ask someone who is an owner or administrator in all of them.",
  },
  noPassword: {
    status: 403,
    code: '40385_NO_PASSWORD',
    message: 'This account signs in only with the identity provider, which manages MFA itself',
  },
  apiKeyExpired: {
    status: 401,
    code: '40105_API_KEY_EXPIRED',
    message: (d: { expired: string }) => `The API key expired at ${d.expired}. Create a new key.`,
  },
  authenticateAgain: {
    status: 403,
    code: '40399_AUTHENTICATE_AGAIN',
    message: 'Send your `password`, or sign in again: this session began more than 10 minutes ago',
  },
  assistantCredential: {
    status: 401,
    code: '40107_ASSISTANT_CREDENTIAL',
    message:
      'Send an API key in the header x-api-key, or an access token: this one is missing or not valid, and there is no sign-in for assistants',
  },
  permissionDenied: { status: 403, code: '40300_PERMISSION_DENIED', message: 'Permission denied' },
  assistantSession: {
    status: 403,
    code: '40391_ASSISTANT_SESSION',
    message: 'The MCP server accepts API keys and access tokens, not user sessions',
  },
  foreignOrigin: {
    status: 403,
    code: '40392_FOREIGN_ORIGIN',
    message: (d: { origin: string }) =>
      `Origin ${d.origin} is not allowed. The operator can allow it with CORS_ORIGINS.`,
  },
} as const satisfies Record<string, ProblemRow>;

// Problems of the inventory.

/** The reason for a request body and for a line of an import file. */
export function connectivityReason(connectivity: string, connector: string): string {
  return `a ${connectivity} device cannot use a data flow whose connector is for ${connector}`;
}

const inventoryProblems = {
  unknownReference: {
    status: 400,
    code: '40010_UNKNOWN_REFERENCE',
    message: (d: { field: string; what: string; id: string; place: string }) =>
      `${d.field}: no ${d.what} with id ${d.id} in this ${d.place}`,
  },
  filterNotAvailable: {
    status: 400,
    code: '40012_FILTER_NOT_AVAILABLE',
    message: (d: { filter: string }) => `Assets cannot be filtered by ${d.filter}`,
  },
  deviceIdNotUnique: {
    status: 409,
    code: '40900_DEVICE_ID_NOT_UNIQUE',
    message: (d: { deviceId: string }) => `Device ID ${d.deviceId} is already in use`,
  },
  reportsNeedMail: {
    status: 409,
    code: '40911_MAIL_NOT_CONFIGURED',
    message: (d: { setting: string }) =>
      `Reports are sent by email. The operator must set ${d.setting}.`,
  },
  reportOwnerRemoved: {
    status: 409,
    code: '40912_REPORT_OWNER_REMOVED',
    message: (d: { name: string }) =>
      `${d.name} is created with the permissions of its owner, who is removed or can no longer read the dashboard. Save the report to become its owner.`,
  },
  reportDashboardDeleted: {
    status: 409,
    code: '40913_REPORT_DASHBOARD_DELETED',
    message: (d: { name: string }) => `The dashboard of ${d.name} is deleted. Choose another one.`,
  },
  reportMailsUsed: {
    status: 429,
    code: '42921_REPORT_MAILS_USED',
    message: (d: { max: number; used: number; retryAfterSeconds: number }) =>
      `An organization can send ${d.max} mails of reports in 24 hours, and ${d.used} of them are used. Retry later, or send to fewer recipients.`,
  },
  staleVersion: {
    status: 409,
    code: '40901_STALE_VERSION',
    message: (d: { sent: number; current: number }) =>
      `The record has changed: you sent version ${d.sent}, but the current version is ${d.current}. Load it again and retry.`,
  },
  inUse: {
    status: 409,
    code: '40902_IN_USE',
    message: (d: { what: string; users: readonly string[] }) =>
      `The ${d.what} is in use by ${d.users.join(', ')}`,
  },
  expressionInvalid: {
    status: 400,
    code: '40013_EXPRESSION_INVALID',
    message: (d: { where: string; reason: string }) => `body ${d.where}: ${d.reason}`,
  },
  customFieldInvalid: {
    status: 400,
    code: '40014_CUSTOM_FIELD_INVALID',
    message: (d: { field: string; reason: string }) => `body customFields: ${d.field} ${d.reason}`,
  },
  importInvalid: {
    status: 400,
    code: '40015_IMPORT_INVALID',
    message: (d: { count: number; line: number; field: string | null; message: string }) =>
      `The file has ${d.count} ${d.count === 1 ? 'error' : 'errors'} and nothing was imported. First error, line ${d.line}: ${d.field ?? 'the line'} ${d.message}. Use dryRun to list all of them.`,
  },
  connectivityMismatch: {
    status: 400,
    code: '40016_CONNECTIVITY_MISMATCH',
    message: (d: { connectivity: string; connector: string }) =>
      `body connectivity: ${connectivityReason(d.connectivity, d.connector)}`,
  },
  nameNotUnique: {
    status: 409,
    code: '40903_NAME_NOT_UNIQUE',
    message: (d: { what: string; name: string }) =>
      `A ${d.what} named ${d.name} already exists in this workspace`,
  },
  placeDashboardExists: {
    status: 409,
    code: '40914_PLACE_DASHBOARD_EXISTS',
    message: (d: { name: string; id: string; placeKind: string | null }) =>
      `Places of kind ${d.placeKind ?? ''} already have a dashboard in this workspace: ${d.name} (${d.id})`,
  },
  typeDashboardExists: {
    status: 409,
    code: '40909_TYPE_DASHBOARD_EXISTS',
    message: (d: { name: string; id: string }) =>
      `The device type already has a dashboard in this workspace: ${d.name} (${d.id})`,
  },
  credentialNotUnique: {
    status: 409,
    code: '40904_CREDENTIAL_NOT_UNIQUE',
    message: (d: { fingerprint: string }) =>
      `The device already has a credential with fingerprint ${d.fingerprint}`,
  },
  configurationNotPushable: {
    status: 409,
    code: '40905_CONFIGURATION_NOT_PUSHABLE',
    message: (d: { reason: string }) => `The configuration cannot be pushed: ${d.reason}`,
  },
  placeTaken: {
    status: 409,
    code: '40907_PLACE_TAKEN',
    message: (d: { field: string; value: string; where: string }) =>
      `body ${d.field}: ${d.where} already has a place with ${d.field} ${d.value}`,
  },
  placeBelowItself: {
    status: 409,
    code: '40908_PLACE_BELOW_ITSELF',
    message: (d: { id: string }) => `body parentId: place ${d.id} is the place itself or below it`,
  },
  notRegistrable: {
    status: 409,
    code: '40906_NOT_REGISTRABLE',
    message: (d: { deviceId: string; connectivity: string; work: string }) =>
      `Cannot ${d.work} device ${d.deviceId}: it uses ${d.connectivity}, and only LORA devices have a network server`,
  },
  blobTypeNotTaken: {
    status: 415,
    code: '41502_BLOB_TYPE_NOT_TAKEN',
    message: (d: { contentType: string; taken: readonly string[] }) =>
      `Files of type ${d.contentType} are not supported. Supported types: ${d.taken.join(', ')}.`,
  },
} as const;

// Problems of uplinks.

const uplinkProblems = {
  deviceIdMissing: {
    status: 400,
    code: '40002_DEVICE_ID_MISSING',
    message:
      'Missing device ID. Send it in the deviceId query parameter or the x-device-id header.',
  },
  timestampInvalid: {
    status: 400,
    code: '40003_TIMESTAMP_INVALID',
    message: (d: { value: string; reason: string }) => `The timestamp ${d.value} ${d.reason}`,
  },
  captureBodyInvalid: {
    status: 400,
    code: '40004_CAPTURE_BODY_INVALID',
    message: (d: { reason: string }) => d.reason,
  },
  nameTooLong: {
    status: 400,
    code: '40048_NAME_TOO_LONG',
    message: (d: { reason: string }) => d.reason,
  },
  mqttTopicInvalid: {
    status: 400,
    code: '40049_MQTT_TOPIC_INVALID',
    message: (d: { reason: string }) =>
      `Invalid device topic: ${d.reason}. Device topics have the form /up/<secret>/id/<device id>[/<topic>]`,
  },
  sampleNotAnObject: {
    status: 400,
    code: '40040_SAMPLE_NOT_AN_OBJECT',
    message: 'A sample must be a JSON object',
  },
  sampleDataMissing: {
    status: 400,
    code: '40041_SAMPLE_DATA_MISSING',
    message: 'data is required and must be a JSON object',
  },
  sampleTopicNotText: {
    status: 400,
    code: '40042_SAMPLE_TOPIC_NOT_TEXT',
    message: 'topic must be a string',
  },
  sampleMetaNotAnObject: {
    status: 400,
    code: '40043_SAMPLE_META_NOT_AN_OBJECT',
    message: 'meta must be a JSON object',
  },
  sampleDeviceMissing: {
    status: 400,
    code: '40046_SAMPLE_DEVICE_MISSING',
    message: 'deviceId is required: the service ID or device ID of a device',
  },
  sampleDeviceUnknown: {
    status: 400,
    code: '40047_SAMPLE_DEVICE_UNKNOWN',
    message: (d: { deviceId: string }) =>
      `No device ${d.deviceId}, or no permission to write to it`,
  },
  uplinkSecretMissing: {
    status: 401,
    code: '40103_UPLINK_SECRET_MISSING',
    message:
      'Missing uplink secret. Send it in the secret query parameter or the x-uplink-secret header.',
  },
  uplinkSecretUnknown: {
    status: 401,
    code: '40104_UPLINK_SECRET_UNKNOWN',
    message: 'Invalid uplink secret',
  },
  deviceNotOnConnector: {
    status: 403,
    code: '40301_DEVICE_NOT_ON_CONNECTOR',
    message: (d: { deviceId: string }) => `Device ${d.deviceId} does not use this device connector`,
  },
  intakeFull: {
    status: 503,
    code: '50300_INTAKE_FULL',
    message: 'Too many payloads in progress. Retry after the time in Retry-After.',
  },
  storageStopped: {
    status: 503,
    code: '50302_STORAGE_STOPPED',
    message: 'Writes are stopped after a disk error. Nothing was stored.',
  },
  storageFull: {
    status: 507,
    code: '50700_STORAGE_FULL',
    message: 'The disk is full. Nothing was stored.',
  },
  journalNotCopied: {
    status: 503,
    code: '50313_JOURNAL_NOT_COPIED',
    message:
      'No other node is available to replicate the journal. Retry after the time in Retry-After.',
  },
} as const satisfies Record<string, ProblemRow>;

// Problems of transports other than HTTP.

const transportProblems = {
  invalidCbor: {
    status: 400,
    code: '40075_INVALID_CBOR',
    message: (d: { reason: string }) => `Invalid CBOR: ${d.reason}`,
  },
  coapBlocksIncomplete: {
    status: 408,
    code: '40870_BLOCKS_INCOMPLETE',
    message: 'A block is missing. Send the body again from the first block.',
  },
  coapAcceptUnsupported: {
    status: 406,
    code: '40670_ACCEPT_UNSUPPORTED',
    message: (d: { accept: number }) =>
      `Accept ${d.accept} is not supported. Responses are application/json (50).`,
  },
  coapBusy: {
    status: 503,
    code: '50370_COAP_BUSY',
    message: 'Too many payloads in progress. Retry after Max-Age.',
  },
} as const satisfies Record<string, ProblemRow>;

// Problems of network servers and downlinks.

const loraProblems = {
  webhookInvalid: {
    status: 400,
    code: '40070_WEBHOOK_INVALID',
    message: (d: { field: string; reason: string }) =>
      `body${d.field === '' ? '' : ' '}${d.field}: ${d.reason}`,
  },
  downlinkNotSupported: {
    status: 400,
    code: '40071_DOWNLINK_NOT_SUPPORTED',
    message: (d: { deviceId: string; connectivity: string }) =>
      `Device ${d.deviceId} uses ${d.connectivity}, which does not support downlinks. Only LORA and MQTT do.`,
  },
  downlinkInvalid: {
    status: 400,
    code: '40072_DOWNLINK_INVALID',
    message: (d: { field: string; reason: string }) => `body ${d.field}: ${d.reason}`,
  },
  downlinkNotEncoded: {
    status: 400,
    code: '40073_DOWNLINK_NOT_ENCODED',
    message: (d: { reason: string }) => `The downlink encoder failed: ${d.reason}`,
  },
  registrationIncomplete: {
    status: 400,
    code: '40074_REGISTRATION_INCOMPLETE',
    message: (d: { deviceEui: string; missing: string }) =>
      `Device ${d.deviceEui} cannot be registered. Missing loraProperties: ${d.missing}.`,
  },
  secretNotOfIntegration: {
    status: 403,
    code: '40370_SECRET_NOT_OF_INTEGRATION',
    message: (d: { integrationId: string }) =>
      `The uplink secret does not belong to integration ${d.integrationId}`,
  },
  downlinkQueueFull: {
    status: 409,
    code: '40970_DOWNLINK_QUEUE_FULL',
    message: (d: { deviceId: string; waitingMax: number }) =>
      `Device ${d.deviceId} already has ${d.waitingMax} queued downlinks. Wait, or send with clearQueue.`,
  },
  networkServerRefused: {
    status: 409,
    code: '40971_NETWORK_SERVER_REFUSED',
    message: (d: { reason: string }) => `The network server rejected the request: ${d.reason}`,
  },
} as const;

// Problems of intakes that other products' senders use.

const intakeProblems = {
  precisionUnknown: {
    status: 400,
    code: '40077_PRECISION_UNKNOWN',
    message: (d: { precision: string }) =>
      `invalid precision ${JSON.stringify(d.precision)} (use n, ns, u, us, ms, s, m or h)`,
  },
  statementUnsupported: {
    status: 400,
    code: '40078_STATEMENT_UNSUPPORTED',
    message:
      'Only CREATE DATABASE, which changes nothing, SHOW DATABASES and SHOW RETENTION POLICIES are answered here; samples are read below /v3',
  },
  senmlInvalid: {
    status: 400,
    code: '40079_SENML_INVALID',
    message: (d: { reason: string }) => `The body is not a valid SenML pack: ${d.reason}`,
  },
  lineProtocolOff: {
    status: 403,
    code: '40373_LINE_PROTOCOL_OFF',
    message:
      'Line protocol is not enabled on this device connector. Set its lineProtocol property.',
  },
  createdDevicesMax: {
    status: 403,
    code: '40371_CREATED_DEVICES_MAX',
    message: (d: { devicesMax: number }) =>
      `The data flow has ${d.devicesMax} devices, the maximum for devices created by its connector`,
  },
  createdDevicesWithoutFlow: {
    status: 403,
    code: '40372_CREATED_DEVICES_WITHOUT_FLOW',
    message: 'The device connector cannot create devices because no data flow uses it',
  },
  pointsTooMany: {
    status: 413,
    code: '41370_POINTS_TOO_MANY',
    message: (d: { pointsMax: number }) =>
      `The body contains more than ${d.pointsMax} samples. Split it into smaller requests.`,
  },
} as const satisfies Record<string, ProblemRow>;

// Problems of backfills.

/** The result for the samples of a backfill so far; error bodies contain it too. */
type BackfillOutcome = {
  readonly accepted: number;
  readonly duplicates: number;
  readonly rejected: readonly {
    readonly index: number;
    readonly errorCode: string;
    readonly message: string;
  }[];
};

type BrokenPlace = {
  readonly index: number;
  readonly byte: number;
  readonly line?: number;
};

function placeText({ byte, line, index }: BrokenPlace): string {
  const inLine = line === undefined ? '' : `line ${line}, `;
  return `sample ${index} (${inLine}byte ${byte})`;
}

function storedBefore({ accepted, duplicates, rejected }: BackfillOutcome): string {
  if (accepted + duplicates + rejected.length === 0) return 'Nothing was stored';
  return (
    `Before that, ${accepted} samples were stored, ${duplicates} were duplicates, and ${rejected.length} were rejected. ` +
    'Resending is safe: identical samples are stored once'
  );
}

const backfillProblems = {
  olderThanRetention: {
    status: 400,
    code: '40051_OLDER_THAN_RETENTION',
    message: (d: { timestamp: string; keptDays: number }) =>
      `The sample timestamp ${d.timestamp} is older than the retention of ${d.keptDays} days, which would delete the sample at once`,
  },
  backfillRejected: {
    status: 400,
    code: '40044_BACKFILL_REJECTED',
    message: ({ rejected }: BackfillOutcome) => {
      const reason = rejected[0]?.message ?? '';
      if (rejected.length === 1) return `The sample was rejected: ${reason}`;
      return `All ${rejected.length} samples were rejected. First reason: ${reason}`;
    },
  },
  backfillBroken: {
    status: 400,
    code: '40045_BACKFILL_BROKEN',
    message: (d: BackfillOutcome & BrokenPlace & { reason: string }) =>
      `The body is invalid at ${placeText(d)}: ${d.reason}. ${storedBefore(d)}`,
  },
  backfillUnreadable: {
    status: 400,
    code: '40052_BACKFILL_UNREADABLE',
    message: (d: BackfillOutcome & { reason: string }) => `${d.reason}. ${storedBefore(d)}`,
  },
  backfillTooLarge: {
    status: 413,
    code: '41301_BACKFILL_TOO_LARGE',
    message: (d: BackfillOutcome & { limit: string }) =>
      `The request exceeds ${d.limit}. Split it into smaller requests. ${storedBefore(d)}`,
  },
  backfillInterrupted: {
    status: 503,
    code: '50303_BACKFILL_INTERRUPTED',
    message: (d: BackfillOutcome) => `The platform is shutting down. ${storedBefore(d)}`,
  },
  backfillStorageFull: {
    status: 507,
    code: '50701_BACKFILL_STORAGE_FULL',
    message: (d: BackfillOutcome) => `The disk is full. ${storedBefore(d)}`,
  },
} as const satisfies Record<string, ProblemRow>;

// Problems of sample queries and data streams.

const queryProblems = {
  badInterval: {
    status: 400,
    code: '40030_BAD_INTERVAL',
    message: (d: { reason: string }) => `Invalid interval: ${d.reason}`,
  },
  badBucketInterval: {
    status: 400,
    code: '40031_BAD_BUCKET_INTERVAL',
    message: (d: { bucketInterval: string; reason: string }) =>
      `Invalid bucketInterval ${d.bucketInterval}: ${d.reason}`,
  },
  tooManyBuckets: {
    status: 400,
    code: '40032_TOO_MANY_BUCKETS',
    message: (d: {
      buckets: number;
      bucketsMax: number;
      bucketInterval: string;
      suggestion: string;
    }) =>
      `The interval contains ${d.buckets} buckets of ${d.bucketInterval}; the maximum is ${d.bucketsMax}. ` +
      `Shorten the interval, or use a bucketInterval of at least ${d.suggestion}.`,
  },
  unknownAccumulator: {
    status: 400,
    code: '40033_UNKNOWN_ACCUMULATOR',
    message: (d: { accumulator: string; valid: readonly string[] }) =>
      `Unknown accumulator ${d.accumulator}. Valid values: ${d.valid.join(', ')}.`,
  },
  unknownTimeZone: {
    status: 400,
    code: '40034_UNKNOWN_TIME_ZONE',
    message: (d: { timeZone: string }) =>
      `Unknown time zone ${d.timeZone}. Use an IANA name such as Europe/Zurich.`,
  },
  badBound: {
    status: 400,
    code: '40035_BAD_BOUND',
    message: (d: { bound: string; value: string }) =>
      `Invalid ${d.bound} ${d.value}. Use an ISO-8601 date-time such as 2026-01-31T08:00:00Z.`,
  },
  tooManyPoints: {
    status: 400,
    code: '40036_TOO_MANY_POINTS',
    message: (d: { points: number; pointsMax: number; devices: number }) =>
      `The series of ${d.devices} devices contain ${d.points} points; the maximum is ${d.pointsMax}. ` +
      'Query fewer devices, a shorter interval, or a longer bucketInterval.',
  },
  tooManyValues: {
    status: 400,
    code: '40084_TOO_MANY_VALUES',
    message: (d: { values: number; valuesMax: number; accumulator: string }) =>
      `The interval contains ${d.values} values; ${d.accumulator} reads at most ${d.valuesMax} in one request. ` +
      'Query fewer devices or a shorter interval.',
  },
  invalidExpression: {
    status: 400,
    code: '40038_INVALID_EXPRESSION',
    message: (d: { where: string; reason: string; position: number }) =>
      `Invalid ${d.where} at character ${d.position + 1}: ${d.reason}`,
  },
  noSample: {
    status: 404,
    code: '40430_NO_SAMPLE',
    message: (d: { deviceId: string }) => `Device ${d.deviceId} has no samples`,
  },
  tooManyRemovals: {
    status: 409,
    code: '40994_TOO_MANY_REMOVALS',
    message: 'Earlier deletions and corrections are still being written. Retry in a minute.',
  },
  tooManySamples: {
    status: 409,
    code: '40995_MORE_SAMPLES',
    message: (d: { samples: number; samplesMax: number }) =>
      `The request selects ${d.samples} samples, more than samplesMax ${d.samplesMax}. Run it with dryRun and confirm the new count.`,
  },
  changeCanceled: {
    status: 409,
    code: '40915_CHANGE_CANCELED',
    message: 'The operation was canceled before all samples of the device were changed.',
  },
  instantTooLarge: {
    status: 409,
    code: '40996_INSTANT_TOO_LARGE',
    message: (d: { timestamp: string; max: number }) =>
      `The device has more than ${d.max} samples at ${d.timestamp}, too many to write them again. Delete some of them first.`,
  },
  documentsBusy: {
    status: 429,
    code: '42920_DOCUMENTS_BUSY',
    message: (d: { max: number; retryAfterSeconds: number }) =>
      `This organization has ${d.max} documents in progress, the maximum. Try again in ${d.retryAfterSeconds} s.`,
  },
  documentTimedOut: {
    status: 503,
    code: '50330_DOCUMENT_TIMED_OUT',
    message: (d: { seconds: number }) =>
      `The document was not finished in ${d.seconds} s. Request a shorter range, or a single tile.`,
  },
  mapFileUnreadable: {
    status: 503,
    code: '50331_MAP_FILE_UNREADABLE',
    message: (d: { name: string; reason: string }) =>
      `Map file ${d.name} cannot be read: ${d.reason}. Ask the operator to replace it.`,
  },
  cursorTooOld: {
    status: 410,
    code: '41000_CURSOR_TOO_OLD',
    message: (d: { oldest: string }) =>
      `The cursor has expired. The oldest available cursor is ${d.oldest}.`,
  },
} as const satisfies Record<string, ProblemRow>;

// Problems of sample exports.

const exportProblems = {
  exportsOff: {
    status: 403,
    code: '40390_EXPORTS_OFF',
    message: 'Sample exports are turned off (EXPORT_BYTES is 0)',
  },
  exportNotReady: {
    status: 409,
    code: '40990_EXPORT_NOT_READY',
    message: (d: { id: string; state: string }) =>
      `Export ${d.id} has no file yet (state ${d.state})`,
  },
  tooManyExports: {
    status: 409,
    code: '40991_TOO_MANY_EXPORTS',
    message: (d: { max: number }) =>
      `This organization has ${d.max} exports, the maximum. Delete one, or wait until one expires.`,
  },
  exportTooLarge: {
    status: 507,
    code: '50720_EXPORT_TOO_LARGE',
    message: (d: { bytesMax: number }) =>
      `The export would exceed EXPORT_BYTES (${d.bytesMax} bytes for all exports). Export fewer devices or a shorter interval, or delete other exports.`,
  },
  exportDiskFull: {
    status: 507,
    code: '50721_EXPORT_DISK_FULL',
    message:
      'The disk ran out of space and the export was deleted. Free up space, then start it again.',
  },
  exportElsewhere: {
    status: 503,
    code: '50320_EXPORT_ELSEWHERE',
    message: (d: { id: string; node: string }) =>
      `Export ${d.id} is stored on node ${d.node}. Send the request to that node.`,
  },
} as const satisfies Record<string, ProblemRow>;

// Problems of rules and custom logic.

const ruleProblems = {
  ruleInvalid: {
    status: 400,
    code: '40076_RULE_INVALID',
    message: (d: { field: string; reason: string }) => `body ${d.field}: ${d.reason}`,
  },
  mutesFull: {
    status: 409,
    code: '40978_MUTES_FULL',
    message: (d: { max: number }) =>
      `The workspace has ${d.max} mutes that are not over, the maximum. Delete one and retry.`,
  },
  onCallFull: {
    status: 409,
    code: '40979_ON_CALL_FULL',
    message: (d: { max: number }) =>
      `The workspace has ${d.max} on-call orders, the maximum. Delete one and retry.`,
  },
  calculationInvalid: {
    status: 400,
    code: '40088_CALCULATION_INVALID',
    message: (d: { field: string; reason: string }) => `body ${d.field}: ${d.reason}`,
  },
  customLogicInUse: {
    status: 409,
    code: '40972_CUSTOM_LOGIC_IN_USE',
    message: (d: { users: readonly string[] }) =>
      `Data sources and properties of custom logic cannot change while active rules use it: ${d.users.join(', ')}`,
  },
  usualKeysFull: {
    status: 409,
    code: '40976_TOO_MANY_USUAL_KEYS',
    message: (d: { keys: number; keysMax: number }) =>
      `Active rules of the workspace would ask for ${d.keys} keys of devices what is unusual; the maximum is ${d.keysMax}. ` +
      'Use fewer devices or keys, or deactivate another rule.',
  },
} as const satisfies Record<string, ProblemRow>;

// Problems of alarms.

const alarmProblems = {
  alarmCleared: {
    status: 409,
    code: '40974_ALARM_CLEARED',
    message: (d: { id: string }) => `Alarm ${d.id} is already cleared`,
  },
  alarmCommentsFull: {
    status: 409,
    code: '40975_ALARM_COMMENTS_FULL',
    message: (d: { id: string; commentsMax: number }) =>
      `Alarm ${d.id} has ${d.commentsMax} comments, the maximum`,
  },
} as const;

// Problems of targets, templates and deliveries.

const deliveryProblems = {
  egressRefused: {
    status: 400,
    code: '40080_EGRESS_REFUSED',
    message: (d: { host: string; reason: string }) =>
      `Connections to ${d.host} are blocked because it is a ${d.reason} address. The operator can allow ranges with EGRESS_ALLOW.`,
  },
  templateInvalid: {
    status: 400,
    code: '40081_TEMPLATE_INVALID',
    message: (d: {
      where: string;
      reason: string;
      expression?: string;
      position?: number;
      line?: number;
      column?: number;
    }) => `${d.where}: ${d.reason}`,
  },
  templateTooLarge: {
    status: 413,
    code: '41380_TEMPLATE_TOO_LARGE',
    message: (d: { charactersMax: number }) =>
      `The rendered template exceeds ${d.charactersMax} characters`,
  },
  urlSegmentRefused: {
    status: 400,
    code: '40082_URL_SEGMENT_REFUSED',
    message: (d: { segment: string }) =>
      `A template value would change the URL path (segment ${d.segment})`,
  },
  outputNotAvailable: {
    status: 400,
    code: '40011_OUTPUT_NOT_AVAILABLE',
    message: (d: { type: string; available: readonly string[] }) =>
      `Output connectors of type ${d.type} are not available on this installation. Available types: ${d.available.length === 0 ? 'none but the built-in database connector' : d.available.join(', ')}.`,
  },
  outputNotConfigured: {
    status: 409,
    code: '40980_OUTPUT_NOT_CONFIGURED',
    message: (d: { type: string; setting: string }) =>
      `Output connectors of type ${d.type} are not configured. The operator must set ${d.setting}.`,
  },
} as const;

// Problems of the databases of records and samples.

const recordsProblems = {
  recordsFailed: {
    status: 503,
    code: '50304_RECORDS_FAILED',
    message: (d: { reason: string }) =>
      `The disk failed while reading or writing records: ${d.reason}`,
  },
  recordsBusy: {
    status: 503,
    code: '50305_RECORDS_BUSY',
    message: 'The database is locked or did not respond in time. Nothing was stored.',
  },
  recordsStopped: {
    status: 503,
    code: '50306_RECORDS_STOPPED',
    message: (d: { reason: string }) =>
      `Writes are stopped after a disk error (${d.reason}). The platform must be restarted.`,
  },
  samplesUnreachable: {
    status: 503,
    code: '50308_SAMPLES_UNREACHABLE',
    message: 'The sample database is unreachable. Try again later.',
  },
  samplesBusy: {
    status: 503,
    code: '50309_SAMPLES_BUSY',
    message: 'The sample database did not respond in time. Try again later.',
  },
  recordsUnreachable: {
    status: 503,
    code: '50307_RECORDS_UNREACHABLE',
    message: 'The record database is unreachable. Try again later.',
  },
} as const satisfies Record<string, ProblemRow>;

// Problems of stored samples that are damaged.

const damageProblems = {
  samplesDamaged: {
    status: 500,
    code: '50010_SAMPLES_DAMAGED',
    message: (d: { deviceId: string; topic: string; from: string; to: string; place: string }) =>
      `Samples of device ${d.deviceId}, topic ${d.topic}, from ${d.from} to ${d.to} are corrupted on disk (${d.place}). ` +
      'Query another interval, or ask the operator to restore them from a backup.',
  },
};

// Problems of a cluster of nodes.

const nodeProblems = {
  deviceWithoutOwner: {
    status: 503,
    code: '50310_DEVICE_WITHOUT_OWNER',
    message: 'No node currently serves this device. Retry after the time in Retry-After.',
  },
  deviceMoved: {
    status: 503,
    code: '50311_DEVICE_MOVED',
    message:
      'The device moved to another node before the request was processed. Retry after the time in Retry-After.',
  },
  deviceMovedMeanwhile: {
    status: 503,
    code: '50314_DEVICE_MOVED_MEANWHILE',
    message:
      'The device moved to another node during the request, which may be partly stored. Retry after the time in Retry-After; identical samples are stored once.',
  },
  nodeUnreachable: {
    status: 503,
    code: '50312_NODE_UNREACHABLE',
    message:
      'The node that serves this device did not respond. Retry after the time in Retry-After.',
  },
  requestUnderWay: {
    status: 409,
    code: '40920_REQUEST_UNDER_WAY',
    message: 'A request with this Idempotency-Key is still in progress. Retry in a few seconds.',
  },
} as const satisfies Record<string, ProblemRow>;

/** Every row, by the name with which the code creates it. */
export const problems = {
  ...requestProblems,
  ...accessProblems,
  ...inventoryProblems,
  ...uplinkProblems,
  ...backfillProblems,
  ...loraProblems,
  ...transportProblems,
  ...intakeProblems,
  ...queryProblems,
  ...ruleProblems,
  ...alarmProblems,
  ...deliveryProblems,
  ...exportProblems,
  ...recordsProblems,
  ...damageProblems,
  ...quotaProblems,
  ...nodeProblems,
} as const satisfies Record<string, ProblemRow>;
