// Words of the OpenAPI document: what fields and parameters mean that have the same name everywhere, where their schema does not say it.

type Schema = Readonly<Record<string, unknown>>;
type Words = Readonly<Record<string, string>>;

/** Of records. */
const fields: Words = {
  id: 'Id of the record.',
  name: 'Name for people.',
  description: 'Free text for people.',
  created: 'When the record was made, ISO-8601 in UTC.',
  updated: 'When the record was last changed, ISO-8601 in UTC; null: never.',
  version:
    'Counts changes. A change that sends another version than the stored one is refused with 409.',
  workspaceId: 'Id of the workspace.',
  organizationId: 'Id of the organization.',
  deviceId: 'Id of the device.',
  dataFlowId: 'Id of the data flow.',
  integrationId: 'Id of the account at a LoRaWAN network server; null without one.',
  ruleId: 'Id of the rule.',
  userId: 'Id of the user.',
  groupId: 'Id of the group; null without one.',
  topic: 'Topic of the samples; `default` unless the decoder gives another one.',
  timestamp: 'Time, ISO-8601 in UTC.',
  correlationId: 'The same in everything that comes from one uplink.',
  dataKey: 'Member of `data`; dots lead into nested objects.',
  data: 'Values by data key.',
  meta: 'What the platform or the decoder adds to the data.',
  tags: 'Tags of the device.',
  customFields: 'Values of custom fields.',
  connectivity: 'How devices send: HTTP, MQTT, COAP or LORA.',
  dataFlow: 'The data flow of the device.',
  deviceType: 'The device type; null without one.',
  deviceConnector: 'The device connector.',
  outputConnectors: 'Output connectors, each with the topic that it gets; `*` is every topic.',
  integration: 'The account at a LoRaWAN network server; null without one.',
  loraProperties: 'LoRaWAN: keys, activation and class; null for other devices.',
  uplinkMetrics: 'What the network told of the last uplinks; null before the first one.',
  onlineState: 'ONLINE, OFFLINE, UNKNOWN (never an uplink) or DE_REGISTERED.',
  online: 'Whether the last uplink is younger than the time-out; null before the first one.',
  onlineTimeout: 'ISO-8601 duration without uplink after which the device is offline.',
  registered:
    'LoRaWAN: true when the network server agreed or an uplink came, false when it was deregistered; null: unknown.',
  workspace: 'The workspace.',
  organization: 'The organization.',
  workspaces: 'Workspaces.',
  workspaceIds: 'Ids of workspaces.',
  permissions: 'What the credential may do, by scope.',
  allWorkspaces: 'Whether all workspaces of the organization are meant.',
  role: 'Role of the member.',
  email: 'E-mail address.',
  actions: 'What happens when the rule triggers.',
  inputs: 'Devices or tags whose samples are judged.',
  dataSources: 'Named sources of samples.',
  triggerOnUplink: 'Whether each uplink of the source starts the rule.',
  lastSample: 'Whether the newest stored sample is used.',
  variableName: 'Name by which conditions and scripts refer to the source.',
  customLogic: 'Custom logic block.',
  customLogicBlockId: 'Id of the custom logic block.',
  code: 'Source text in JavaScript.',
  configuration: 'Content as the client stores it.',
  pictureUrl: 'Address of a picture; null without one.',
  properties: 'Stored for clients; not used by the platform.',
  excludeFromLifecycleReport: 'Stored for clients; not used by the platform.',
  sendConsecutiveAlerts: 'Whether each trigger notifies, and not only the first of several.',
  scope: 'Where the record can be used.',
  deleted: 'Whether the record is deleted.',
  global: 'Whether the record belongs to the installation and not to a workspace.',
  readOnly: 'Whether the record cannot be changed.',
  uplinkSecret: 'Secret with which devices of the connector send.',
  latitude: 'Degrees north, WGS 84.',
  longitude: 'Degrees east, WGS 84.',
  locationRadius: 'Uncertainty of the position in meters.',
  port: 'LoRaWAN port.',
  frameCountUp: 'LoRaWAN frame counter of the uplink.',
  frameCountDown: 'LoRaWAN frame counter of downlinks.',
  rssi: 'Received signal strength in dBm.',
  snr: 'Signal to noise ratio in dB.',
  sf: 'LoRa spreading factor.',
  txPower: 'Transmission power in dBm.',
  numberOfGateways: 'Gateways that received the uplink.',
  esp: 'Estimated signal power in dBm: without the noise.',
  sqi: 'Signal quality: 1 bad, 2 medium, 3 good.',
  batteryLevel: 'Battery in percent.',
  uplinkSize: 'Bytes of the payload as received.',
  errorCode: 'Stable code of the error.',
  errorId: 'Finds the error in the log of the platform.',
};

/** Of pages: their names mean something else elsewhere. */
const pageFields: Words = {
  content: 'The records of this page.',
  size: 'Records of a page, as asked for.',
  number: 'Number of this page, from 0.',
  numberOfElements: 'Records of this page.',
  totalElements: 'Records of all pages.',
  totalPages: 'Number of pages.',
  first: 'Whether this is the first page.',
  last: 'Whether this is the last page.',
  empty: 'Whether this page has no records.',
  pageable: 'The page as it was asked for.',
  sort: 'How the records are sorted.',
};

const parameters: Words = {
  id: 'Id of the record.',
  organizationId: 'Only records of this organization; needed where the credential is for several.',
  workspaceId: 'Only records of this workspace.',
  workspaceIds: 'Only records of these workspaces, separated by commas.',
  userId: 'Id of the user.',
  credentialId: 'Id of the device credential.',
  deviceId: 'Id of the device.',
  tagId: 'Id of the tag.',
  ruleId: 'Only those of this rule.',
  actorId: 'Only what this user, key or client did.',
  resourceType: 'Only changes of records of this kind.',
  resourceId: 'Only changes of this record.',
  action: 'Only this kind of change.',
  state: 'Only those in this state.',
  severity: 'Only those of this severity.',
  type: 'Only those of this type.',
  types: 'Only those of these types, separated by commas.',
  kind: 'Only those of this kind.',
  level: 'Only entries of this level.',
  format: 'Format of the answer.',
  version: 'Version of the record.',
  token: 'Token from the link that was mailed or handed over.',
  assetIds: 'Only these devices, separated by commas.',
  dataFlowId: 'Only devices of this data flow.',
  connectivity: 'Only devices that send in this way.',
  integrationId: 'Only devices of this account at a network server.',
  online: 'Only devices that are online, or that are not.',
  'tags.ids': 'Only devices with one of these tags, separated by commas.',
  'customFields.ids': 'Only devices with a value in one of these custom fields.',
  groupId: 'Only those of this group.',
  minimal: 'Whether records have only `id` and `name`.',
  scope: 'Only those that can be used there.',
  global: 'Whether those of the installation are included.',
  skip: 'Records that are left out at the beginning.',
  name: 'Name.',
  mode: 'How the file is applied.',
  consistency: 'Whether the answer waits for what other nodes have taken in.',
  customLogicBlockId: 'Only rules with this custom logic block.',
  inputIds: 'Only rules with one of these inputs, separated by commas.',
  code: 'Code that the provider returned.',
  iss: 'Issuer that the provider returned.',
  error: 'Error that the provider returned.',
  error_description: 'Description of the error that the provider returned.',
};

/** The schema, with words for the fields that have none. */
export function withFieldWords(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(withFieldWords);
  if (typeof schema !== 'object' || schema === null) return schema;
  const written: Record<string, unknown> = { ...schema };
  for (const key of ['items', 'additionalProperties', ...alternatives])
    if (key in written) written[key] = withFieldWords(written[key]);
  if (typeof written['properties'] !== 'object' || written['properties'] === null) return written;
  const members = Object.entries(written['properties'] as Readonly<Record<string, Schema>>);
  const isPage = members.some(([name]) => name === 'totalPages');
  const words = isPage ? { ...fields, ...pageFields } : fields;
  written['properties'] = Object.fromEntries(
    members.map(([name, member]) => [name, withWord(withFieldWords(member), words, name)]),
  );
  return written;
}

/** The parameter of an operation, with words if it has none. */
export function withParameterWords<P extends { readonly name: string }>(parameter: P): P {
  return withWord(parameter, parameters, parameter.name) as P;
}

const alternatives = ['anyOf', 'oneOf', 'allOf'] as const;

function withWord(described: unknown, words: Words, name: string): unknown {
  if (typeof described !== 'object' || described === null || isDescribed(described as Schema))
    return described;
  if (!Object.hasOwn(words, name)) return described;
  return { ...described, description: words[name] };
}

/** A reference has the words of what it refers to. */
function isDescribed(schema: Schema): boolean {
  if ('description' in schema || '$ref' in schema) return true;
  return alternatives.some((key) => {
    const members = schema[key];
    return Array.isArray(members) && members.some((member) => isDescribed(member as Schema));
  });
}
