// Identifiers of records: 16 lower-case hexadecimal characters, the first two name the kind (contract 0); and the limits of names from outside.

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

// Names from outside: device ids, topics, data keys, tags and others are limited before they become a key (interface 2.3, contract 42).

/** Characters of a name; no longer one becomes a key of anything, nor is looked up. */
export const outsideNameMax = 500;
const shownLengthMax = 40;

export function isLongName(name: string): boolean {
  return name.length > outsideNameMax;
}

/** Says that the name of `member` is too long. Call it only for such a name. */
export function longNameReason(member: string, name: string): string {
  return `${member} has ${name.length} characters; up to ${outsideNameMax} are permitted: ${name.slice(0, shownLengthMax)}…`;
}

/** The name as messages show it, cut when it is too long. */
export function cutName(name: string): string {
  return isLongName(name) ? `${name.slice(0, outsideNameMax)}…` : name;
}

// Stand-in for a data key or topic that is too long to become a key (contract 42).

/**
 * What stands for a name that is too long until validation, which takes it for an invalid topic or
 * data key and notes its first 500 characters (interface 2.3). Names that differ later differ in
 * their check sum; it is no protection from names that were made to agree, which only replace each
 * other.
 */
export function standInName(name: string): string {
  if (!isLongName(name)) return name;
  return `${cutName(name)}${checkSum(name, 0x811c9dc5)}${checkSum(name, 0x01000193)}`;
}

/** FNV-1a over code units, from the start value: eight hexadecimal digits. Browsers have no `hash`. */
function checkSum(text: string, start: number): string {
  let sum = start;
  for (let at = 0; at < text.length; at++) sum = Math.imul(sum ^ text.charCodeAt(at), 0x01000193);
  return (sum >>> 0).toString(16).padStart(8, '0');
}

// Topic check of interface 2.3 in linear time, because the printed expression backtracks exponentially.

/**
 * Whether the string is a topic. Accepts exactly what
 * `^[a-zA-Z0-9]([a-zA-Z0-9]+(\.|:|-|_)?)*[a-zA-Z0-9]+$` accepts: a first run of at least two
 * alphanumeric characters, then any number of runs of at least one, with single separators between
 * them; at most 500 characters (contract 42).
 */
export function isTopic(text: string): boolean {
  if (isLongName(text)) return false;
  let run = 0;
  let runMin = 2;
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (isAlphanumeric(code)) {
      run++;
    } else if (run >= runMin && isSeparator(code)) {
      run = 0;
      runMin = 1;
    } else {
      return false;
    }
  }
  return run >= runMin;
}

/** ASCII letters and digits only: `é` and the Arabic digits are none. */
export function isAlphanumeric(code: number): boolean {
  return (code >= 97 && code <= 122) || (code >= 48 && code <= 57) || (code >= 65 && code <= 90);
}

/** `.`, `:`, `-` or `_`. */
function isSeparator(code: number): boolean {
  return code === 46 || code === 58 || code === 45 || code === 95;
}
