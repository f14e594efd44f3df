// Problems of the inventory: rows of the table in problem.ts.

/** The reason for a request body and for a line of an import file. */
export function connectivityReason(connectivity: string, connector: string): string {
  return `a ${connectivity} device cannot use a data flow whose connector is for ${connector}`;
}

export const inventoryProblems = {
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
