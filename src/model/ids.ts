// Record identifiers: 16 lower-case hexadecimal characters, the first two name the kind (contract 0).
export const kindPrefixes = {
  device: '02',
  integration: '06',
  deviceConnector: '07',
  dataFlow: '08',
  outputConnector: '09',
  delivery: '10',
  apiKey: '11',
  oauthClient: '12',
  blob: '13',
  dashboard: '14',
  dashboardGroup: '15',
  deviceConfiguration: '16',
  view: '17',
  dashboardShare: '18',
  mute: '44',
  onCall: '46',
  rule: '21',
  alarm: '22',
  calculation: '23',
  organization: '28',
  workspace: '29',
  deviceType: '33',
  customLogic: '37',
  refusal: '45',
  place: '41',
  annotation: '42',
  report: '43',
  user: '52',
  member: '53',
  session: '54',
  invitation: '55',
  passkey: '56',
  operation: '66',
  operationAction: '67',
  customFieldMeta: '69',
  tag: '71',
  downlink: '72',
  deviceCredential: '99',
} as const;

export type RecordKind = keyof typeof kindPrefixes;

/** The global database output connector has the same id in every installation (contract 0). */
export const databaseConnectorId = '0900000000000000';

/** The output connector that sends mails with the mail server of the operator (contract 39.4). */
export const mailConnectorId = '0900000000000001';

/** Whether the output connector belongs to all organizations. */
export function isSharedConnector(id: string): boolean {
  return id === databaseConnectorId || id === mailConnectorId;
}

/**
 * Whether the text has the form of an identifier of the kind. Physical ids of devices can have it
 * too.
 */
export function hasFormOfId(kind: RecordKind, text: string): boolean {
  return text.length === 16 && text.startsWith(kindPrefixes[kind]);
}

// New record identifiers, which clients must treat as opaque strings (contract 0).

/** A new random identifier of the kind. */
export function newId(kind: RecordKind): string {
  return (
    kindPrefixes[kind] + Buffer.from(crypto.getRandomValues(new Uint8Array(7))).toString('hex')
  );
}

const idsOfKind = 2n ** 56n;

/**
 * Gives new identifiers of the kind that follow each other, behind a random one: rows of one batch
 * then lie together in every index, and a transaction writes few pages.
 */
export function idSequence(kind: RecordKind): () => string {
  let next = BigInt(`0x${newId(kind).slice(2)}`);
  return () => {
    const id = next.toString(16).padStart(14, '0');
    next = (next + 1n) % idsOfKind;
    return kindPrefixes[kind] + id;
  };
}
