// The wire format of Kafka as brokers read it: big-endian fields, records of batch format 2 with their checksum.

/** Reads one request field after the other. */
export class WireReader {
  private at = 0;
  private readonly bytes: Buffer;
  constructor(bytes: Buffer) {
    this.bytes = bytes;
  }
  int8 = (): number => this.bytes.readInt8((this.at += 1) - 1);
  int16 = (): number => this.bytes.readInt16BE((this.at += 2) - 2);
  int32 = (): number => this.bytes.readInt32BE((this.at += 4) - 4);
  uint32 = (): number => this.bytes.readUInt32BE((this.at += 4) - 4);
  int64 = (): bigint => this.bytes.readBigInt64BE((this.at += 8) - 8);
  take(length: number): Buffer {
    if (length < 0 || this.at + length > this.bytes.length)
      throw new Error(`a field of ${length} bytes ends after its request`);
    return this.bytes.subarray(this.at, (this.at += length));
  }
  string(): string {
    return this.nullableString() ?? '';
  }
  nullableString(): string | null {
    const length = this.int16();
    return length < 0 ? null : this.take(length).toString();
  }
  data(): Buffer {
    return this.take(this.int32());
  }
  list<T>(item: () => T): T[] {
    return Array.from({ length: Math.max(0, this.int32()) }, item);
  }
  /** Zigzag variable-length integer, of records. */
  varint(): number {
    let value = 0;
    for (let shift = 0; ; shift += 7) {
      const byte = this.bytes.readUInt8(this.at++);
      value += (byte & 0x7f) * 2 ** shift;
      if (byte < 0x80) return value % 2 === 0 ? value / 2 : -(value + 1) / 2;
    }
  }
  varText(): string | null {
    const length = this.varint();
    return length < 0 ? null : this.take(length).toString();
  }
  get left(): number {
    return this.bytes.length - this.at;
  }
}

/** Writes answers; every method answers the writer. */
export class WireWriter {
  private readonly parts: Buffer[] = [];
  int16(value: number): this {
    return this.add(2, (bytes) => bytes.writeInt16BE(value));
  }
  int32(value: number): this {
    return this.add(4, (bytes) => bytes.writeInt32BE(value));
  }
  int64(value: bigint): this {
    return this.add(8, (bytes) => bytes.writeBigInt64BE(value));
  }
  flag(value: boolean): this {
    return this.add(1, (bytes) => bytes.writeInt8(value ? 1 : 0));
  }
  string(text: string | null): this {
    if (text === null) return this.int16(-1);
    this.int16(Buffer.byteLength(text)).parts.push(Buffer.from(text));
    return this;
  }
  data(bytes: Buffer): this {
    this.int32(bytes.length).parts.push(bytes);
    return this;
  }
  list<T>(items: readonly T[], item: (value: T) => void): this {
    this.int32(items.length);
    items.forEach(item);
    return this;
  }
  bytes(): Buffer {
    return Buffer.concat(this.parts);
  }
  private add(length: number, write: (bytes: Buffer) => void): this {
    const bytes = Buffer.alloc(length);
    write(bytes);
    this.parts.push(bytes);
    return this;
  }
}

export interface KafkaRecord {
  readonly key: string | null;
  readonly value: string | null;
  readonly headers: Readonly<Record<string, string | null>>;
}

/** The records of a batch; throws when its form or its checksum is wrong. */
export function recordsOf(batch: Buffer): KafkaRecord[] {
  const reader = new WireReader(batch);
  reader.int64();
  if (reader.int32() !== reader.left) throw new Error('the length of the batch is wrong');
  reader.int32();
  if (reader.int8() !== 2) throw new Error('the batch is not of format 2');
  const checksum = reader.uint32();
  if (checksum !== crc32c(batch.subarray(21)))
    throw new Error('the checksum of the batch is wrong');
  const attributes = reader.int16();
  if ((attributes & 7) !== 0) throw new Error('the batch is compressed');
  // Last offset delta, two timestamps, producer id, epoch, base sequence.
  reader.take(4 + 8 + 8 + 8 + 2 + 4);
  return reader.list(() => {
    reader.varint();
    reader.int8();
    reader.varint();
    reader.varint();
    const [key, value] = [reader.varText(), reader.varText()];
    const headers = Array.from(
      { length: reader.varint() },
      () => [reader.varText() ?? '', reader.varText()] as const,
    );
    return { key, value, headers: Object.fromEntries(headers) };
  });
}

/** CRC-32 with Castagnoli's polynomial, bit by bit. */
function crc32c(bytes: Buffer): number {
  let crc = 0xffff_ffff;
  for (const byte of bytes) {
    crc ^= byte;
    for (let bit = 0; bit < 8; bit++) crc = (crc >>> 1) ^ ((crc & 1) * 0x82f6_3b78);
  }
  return (crc ^ 0xffff_ffff) >>> 0;
}
