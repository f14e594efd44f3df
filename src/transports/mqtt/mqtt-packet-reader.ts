// MQTT packet reader: cuts the bytes of a connection into packets, which the packet library reads and the standard checks.
import {
  type IConnectPacket,
  type IPublishPacket,
  type ISubscribePacket,
  type IUnsubscribePacket,
  type Packet,
  parser,
} from 'mqtt-packet';

// MQTT packet framer: cuts the bytes of a connection into packets, with a buffer only while a packet is incomplete.

/** Why bytes are not MQTT; the connection must end. */
export class MalformedPacket extends Error {}

const lengthBytesMax = 4;
const partialBytesMin = 64;

/** A PUBLISH above the limit, of which only the beginning was kept. */
export class LargePublish {
  readonly start: Buffer;
  /** Of the entire packet. */
  readonly bytes: number;

  constructor(start: Buffer, bytes: number) {
    this.start = start;
    this.bytes = bytes;
  }
}

/** First half byte of a PUBLISH. */
const publishType = 3;
/** Header, topic and number of a PUBLISH. */
const publishStartMax = 1 + lengthBytesMax + 2 + 65_535 + 2;

/** A packet that has arrived in part. */
interface PartialPacket {
  /** Grows with what arrives: what a header promises costs nothing until it is there. */
  bytes: Buffer;
  /** Bytes that have arrived. */
  used: number;
  /** Bytes that are kept of those that arrive. */
  kept: number;
  /** Bytes of the entire packet; undefined until its header is complete. */
  total: number | undefined;
}

/** One for each connection: without unread bytes it refers to nothing else. */
export class PacketFramer {
  #bytesMax: number;
  #skipsPublishes = false;
  #unread: Buffer | undefined;
  #partial: PartialPacket | undefined;

  /** `bytesMax` limits a packet without its header. */
  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
  }

  /** Memory of the packet that has arrived in part, bytes. */
  get heldBytes(): number {
    return this.#partial?.bytes.length ?? 0;
  }

  /** Bytes that have arrived of the packet that has arrived in part. */
  get arrivedBytes(): number {
    return this.#partial?.used ?? 0;
  }

  /** Whether bytes wait for `next`. */
  get hasUnread(): boolean {
    return this.#unread !== undefined;
  }

  /** First byte of the packet that `next` returns next; undefined before it has arrived. */
  get header(): number | undefined {
    return this.#partial?.bytes[0] ?? this.#unread?.[0];
  }

  /** Whether a packet has arrived in part that will be taken once it is complete. */
  get isHolding(): boolean {
    return this.#partial !== undefined && this.#partial.kept === Number.POSITIVE_INFINITY;
  }

  /** The largest packet from now on. */
  limit(bytesMax: number): void {
    this.#bytesMax = bytesMax;
  }

  /** From now on, a PUBLISH above the limit is returned as LargePublish, without its payload. */
  skipLargePublishes(): void {
    this.#skipsPublishes = true;
  }

  /** Adds bytes of the stream. */
  push(chunk: Buffer): void {
    this.#unread = this.#unread === undefined ? chunk : Buffer.concat([this.#unread, chunk]);
  }

  /**
   * Returns the next complete packet with its header; undefined until more bytes arrive. Throws
   * MalformedPacket for a packet above the limit that is not skipped, as soon as its header says so,
   * and for a length of more than four bytes (MQTT 3.1.1, 2.2.3).
   */
  next(): Buffer | LargePublish | undefined {
    const unread = this.#unread;
    if (unread === undefined) return undefined;
    if (this.#partial !== undefined) return this.#complete(this.#partial, unread);
    const total = this.#totalOf(unread, unread.length);
    const kept = this.#keptOf(unread, total);
    if (total === undefined || total > unread.length) {
      const capacity = Math.max(Math.min(unread.length, kept), partialBytesMin);
      this.#partial = { bytes: Buffer.allocUnsafeSlow(capacity), used: 0, total, kept };
      this.#take(this.#partial, unread, unread.length);
      return undefined;
    }
    this.#leave(unread, total);
    const packet = unread.subarray(0, Math.min(total, kept));
    return isLarge(kept) ? new LargePublish(packet, total) : packet;
  }

  /** The bytes that follow the last packet; they do not wait for `next` any longer. */
  takeUnread(): Buffer | undefined {
    const unread = this.#unread;
    this.clear();
    return unread;
  }

  /** Discards all bytes. */
  clear(): void {
    this.#unread = undefined;
    this.#partial = undefined;
  }

  #complete(partial: PartialPacket, unread: Buffer): Buffer | LargePublish | undefined {
    let left = unread;
    while (partial.total === undefined) {
      if (left.length === 0) {
        this.#unread = undefined;
        return undefined;
      }
      left = this.#take(partial, left, 1);
      partial.total = this.#totalOf(partial.bytes, partial.used);
      partial.kept = this.#keptOf(partial.bytes, partial.total);
    }
    left = this.#take(partial, left, partial.total - partial.used);
    if (partial.used < partial.total) return undefined;
    this.#partial = undefined;
    const { bytes, used, kept } = partial;
    if (isLarge(kept)) return new LargePublish(bytes.subarray(0, Math.min(used, kept)), used);
    return bytes.subarray(0, used);
  }

  /** Copies up to this number of bytes. Returns the bytes that are left. */
  #take(partial: PartialPacket, from: Buffer, count: number): Buffer {
    const taken = Math.min(count, from.length);
    const arrived = partial.used + taken;
    const needed = Math.min(arrived, partial.kept);
    if (needed > partial.bytes.length) {
      const most = Math.min(partial.total ?? needed, partial.kept);
      const grown = Buffer.allocUnsafeSlow(
        Math.max(needed, Math.min(2 * partial.bytes.length, most)),
      );
      partial.bytes.copy(grown, 0, 0, partial.used);
      partial.bytes = grown;
    }
    if (partial.used < needed) from.copy(partial.bytes, partial.used, 0, needed - partial.used);
    partial.used = arrived;
    return this.#leave(from, taken);
  }

  /** Bytes to keep of a packet; infinite for one within the limit. */
  #keptOf(bytes: Buffer, total: number | undefined): number {
    if (total === undefined || total <= this.#bytesMax) return Number.POSITIVE_INFINITY;
    // The header counts for nothing in the limit.
    const header = 1 + bytes.subarray(1, 1 + lengthBytesMax).findIndex((byte) => byte < 0x80) + 1;
    return total - header > this.#bytesMax ? publishStartMax : Number.POSITIVE_INFINITY;
  }

  #leave(unread: Buffer, taken: number): Buffer {
    const left = unread.subarray(taken);
    this.#unread = left.length === 0 ? undefined : left;
    return left;
  }

  /** Bytes of the packet that begins here; undefined when its header is incomplete. */
  #totalOf(bytes: Buffer, used: number): number | undefined {
    let length = 0;
    for (let i = 1; i <= lengthBytesMax; i++) {
      if (i >= used) return undefined;
      const byte = bytes[i]!;
      length += (byte & 0x7f) * 128 ** (i - 1);
      if (byte >= 0x80) continue;
      const isSkipped = this.#skipsPublishes && bytes[0]! >> 4 === publishType;
      if (length > this.#bytesMax && !isSkipped) throw new MalformedPacket('tooLarge');
      return 1 + i + length;
    }
    throw new MalformedPacket('malformed');
  }
}

function isLarge(kept: number): boolean {
  return kept !== Number.POSITIVE_INFINITY;
}

/** Levels of the protocol: 3 is MQTT 3.1, 4 is 3.1.1, 5 is MQTT 5. */
export type ProtocolLevel = 3 | 4 | 5;

export type ConnectPacket = IConnectPacket & { readonly protocolVersion: ProtocolLevel };

/** A packet of QoS 1 or 2 has a number. */
export type PublishPacket = IPublishPacket;

interface Numbered<C extends string> {
  readonly cmd: C;
  readonly messageId: number;
  /** Of MQTT 5. */
  readonly reasonCode?: number;
}

/** The last packet of a client; MQTT 5 has a reason and properties. */
interface DisconnectPacket {
  readonly cmd: 'disconnect';
  readonly reasonCode?: number;
  readonly properties?: { readonly sessionExpiryInterval?: number };
}

/** Packets of a client that has logged in. */
type ClientPacket =
  | PublishPacket
  | (ISubscribePacket & Numbered<'subscribe'>)
  | (IUnsubscribePacket & Numbered<'unsubscribe'>)
  | Numbered<'puback' | 'pubrec' | 'pubrel' | 'pubcomp'>
  | { readonly cmd: 'pingreq' }
  | DisconnectPacket;

export type SubscribePacket = Extract<ClientPacket, { readonly cmd: 'subscribe' }>;
export type UnsubscribePacket = Extract<ClientPacket, { readonly cmd: 'unsubscribe' }>;

/** The client speaks another version of MQTT. */
export class UnsupportedLevel extends Error {}

const protocolNames = ['MQTT', 'MQIsdp'];
const qosMax = 2;
const duplicateFlag = 8;
/** First bytes of PUBREL, SUBSCRIBE and UNSUBSCRIBE. */
const repeatableHeaders = [0x62, 0x82, 0xa2];
const acknowledgementLength = 2;

/** One packet with its header is read at a time, so all connections of a level share a parser. */
type ReadOne = (bytes: Buffer) => Packet;

function createReader(settings?: object): ReadOne {
  let read: Packet | undefined;
  let fault: Error | undefined;
  const create = () =>
    parser(settings)
      .on('packet', (packet) => {
        read = packet;
      })
      .on('error', (error: Error) => {
        fault = error;
      });
  let shared = create();
  return (bytes) => {
    read = undefined;
    fault = undefined;
    try {
      shared.parse(bytes);
    } catch (error) {
      fault = error instanceof Error ? error : new Error(String(error));
    }
    const packet = read as Packet | undefined;
    read = undefined;
    if (fault === undefined && packet !== undefined) return packet;
    // What a broken packet leaves in a parser must not reach the next one.
    shared = create();
    throw new MalformedPacket(fault?.message ?? 'incomplete packet');
  };
}

const readers: Readonly<Record<ProtocolLevel, ReadOne>> = {
  3: createReader({ protocolVersion: 3 }),
  4: createReader({ protocolVersion: 4 }),
  5: createReader({ protocolVersion: 5 }),
};

/**
 * Reads the first packet of a connection. It must be a CONNECT. Throws UnsupportedLevel for another
 * version of MQTT, which is answered, and MalformedPacket, which is not.
 */
export function readConnect(bytes: Buffer): ConnectPacket {
  checkLevel(bytes);
  // A parser takes the settings of the CONNECT that it has read, so this one is used once.
  const packet = createReader()(bytes) as ConnectPacket;
  if ((packet.will?.qos ?? 0) > qosMax) throw new MalformedPacket('invalid will QoS 3');
  checkStrings(bytes, [packet.clientId, packet.username ?? '', packet.will?.topic ?? '']);
  return packet;
}

/** MQTT 3.1.2.2: the name of the protocol, and then the level. */
function checkLevel(bytes: Buffer): void {
  const nameAt = bytes.findIndex((byte, i) => i > 0 && byte < 0x80) + 3;
  const name = protocolNames.find((one) => bytes.toString('latin1', nameAt).startsWith(one));
  if (name === undefined) throw new MalformedPacket('invalid protocol name');
  // Bridges set the highest bit.
  const level = (bytes[nameAt + name.length] ?? 0) & 0x7f;
  if (!(level in readers)) throw new UnsupportedLevel(`protocol level ${level}`);
}

/** Throws MalformedPacket for what the standard does not permit to a client. */
export function readPacket(bytes: Buffer, level: ProtocolLevel): ClientPacket {
  if (level === 3) clearRepetition(bytes);
  const packet = readers[level](bytes);
  switch (packet.cmd) {
    case 'publish':
      if (packet.qos > 0) checkNumber(packet);
      // MQTT-3.3.2-2 and 4.7.3-1.
      if (packet.topic === '' || /[+#]/.test(packet.topic))
        throw new MalformedPacket('empty topic or wildcard in a publish topic');
      if (packet.properties?.topicAlias !== undefined)
        throw new MalformedPacket('topic aliases are not supported');
      checkStrings(bytes, [packet.topic]);
      return packet;
    case 'subscribe':
      checkFilters(packet.subscriptions.map(({ topic }) => topic));
      checkStrings(
        bytes,
        packet.subscriptions.map(({ topic }) => topic),
      );
      if (packet.properties?.subscriptionIdentifier !== undefined)
        throw new MalformedPacket('subscription identifiers are not supported');
      return checkNumber(packet);
    case 'unsubscribe':
      checkFilters(packet.unsubscriptions);
      checkStrings(bytes, packet.unsubscriptions);
      return checkNumber(packet);
    case 'puback':
    case 'pubrec':
    case 'pubrel':
    case 'pubcomp':
      // With a reason and properties they are longer.
      if (level < 5) checkLength(packet, acknowledgementLength);
      return checkNumber(packet);
    case 'pingreq':
      checkLength(packet, 0);
      return { cmd: packet.cmd };
    case 'disconnect':
      if (level < 5) checkLength(packet, 0);
      return packet;
    default:
      throw new MalformedPacket(`unexpected ${packet.cmd}`);
  }
}

/**
 * Reads a PUBLISH of which only the beginning was kept: without properties and payload. Throws
 * MalformedPacket.
 */
export function readPublishStart(bytes: Buffer): PublishPacket {
  const [header = 0] = bytes;
  const qos = (header >> 1) & 3;
  if (qos > qosMax) throw new MalformedPacket('the QoS of a publish is 3');
  const lengthAt = bytes.findIndex((byte, i) => i > 0 && byte < 0x80) + 1;
  const topicAt = lengthAt + 2;
  const numberAt = topicAt + bytes.readUInt16BE(lengthAt);
  if (numberAt + 2 > bytes.length) throw new MalformedPacket('the topic is longer than its packet');
  const topic = bytes.toString('utf8', topicAt, numberAt);
  const packet = {
    ...({ cmd: 'publish', topic, payload: '', qos: qos as 0 | 1 | 2 } as const),
    dup: (header & duplicateFlag) !== 0,
    retain: (header & 1) !== 0,
  } as const;
  if (qos === 0) return packet;
  return checkNumber({ ...packet, messageId: bytes.readUInt16BE(numberAt) });
}

/** Sets DUP of a PUBREL, SUBSCRIBE and UNSUBSCRIBE to 0, as in MQTT 3.1.1: MQTT 3.1 permits it. */
function clearRepetition(bytes: Buffer): void {
  const header = bytes[0]!;
  if (repeatableHeaders.includes(header & ~duplicateFlag)) bytes[0] = header & ~duplicateFlag;
}

/** MQTT-2.3.1-1: not zero. */
function checkNumber<P extends { messageId?: number }>(packet: P): P & { messageId: number } {
  const { messageId = 0 } = packet;
  if (messageId < 1) throw new MalformedPacket('missing packet identifier');
  return packet as P & { messageId: number };
}

function checkLength({ length }: { length?: number }, wanted: number): void {
  if (length !== wanted) throw new MalformedPacket('wrong length');
}

/** MQTT-3.8.3-3 and 3.10.3-2: at least one. MQTT 4.7.1: where wildcards may be. */
function checkFilters(filters: readonly string[]): void {
  if (filters.length === 0) throw new MalformedPacket('missing topic filter');
  for (const filter of filters) {
    if (filter === '') throw new MalformedPacket('empty topic filter');
    const misplaced = filter
      .split('/')
      .some((level, i, { length }) =>
        level.length > 1 ? /[+#]/.test(level) : level === '#' && i < length - 1,
      );
    if (misplaced) throw new MalformedPacket('misplaced wildcard');
  }
}

/** MQTT 1.5.3: UTF-8, without U+0000. */
function checkStrings(bytes: Buffer, strings: readonly string[]): void {
  for (const one of strings) {
    if (one.includes('\0')) throw new MalformedPacket('a string with U+0000');
    // The decoder replaces what is not UTF-8 with U+FFFD, which a packet may also contain itself.
    if (one.includes('\ufffd') && !bytes.includes('\ufffd'))
      throw new MalformedPacket('string is not valid UTF-8');
  }
}
