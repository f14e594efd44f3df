// Sparkplug payload: what the library of Eclipse Tahu writes is read as it was; broken bytes are refused.
import { deflateSync, gzipSync } from 'node:zlib';
import fc from 'fast-check';
import proto from 'sparkplug-payload/lib/sparkplugPayloadProto.js';
import { describe, expect, test } from 'vitest';
import { InvalidPayload, type Metric, readPayload } from './sparkplug-payload.ts';

const { Payload } = proto.org.eclipse.tahu.protobuf;
type IPayload = Parameters<typeof Payload.encode>[0];

/** As the library takes and the reader returns them; 64 bits as a pair of halves, and as a number. */
const long = fc
  .tuple(fc.integer({ min: 0, max: 2 ** 32 - 1 }), fc.integer({ min: 0, max: 2 ** 32 - 1 }))
  .map(([low, high]) => {
    const whole = (BigInt(high) << 32n) | BigInt(low);
    const read = whole <= BigInt(Number.MAX_SAFE_INTEGER) ? Number(whole) : whole;
    return { wire: { low: low | 0, high: high | 0, unsigned: true }, read };
  });
const uint32 = fc.integer({ min: 0, max: 2 ** 32 - 1 });
const text = fc.string({ unit: 'grapheme', maxLength: 20 });
const bytes = fc.uint8Array({ maxLength: 40 });

interface Written {
  readonly wire: Record<string, unknown>;
  readonly read: unknown;
}

/** A value in the fields from `first` on, and as it is read. */
const scalar: fc.Arbitrary<Written> = fc.oneof(
  uint32.map((value) => ({ wire: { intValue: value }, read: value })),
  long.map(({ wire, read }) => ({ wire: { longValue: wire }, read })),
  fc.float().map((value) => ({ wire: { floatValue: value }, read: value })),
  fc.double().map((value) => ({ wire: { doubleValue: value }, read: value })),
  fc.boolean().map((value) => ({ wire: { booleanValue: value }, read: value })),
  text.map((value) => ({ wire: { stringValue: value }, read: value })),
);

const dataSet = fc
  .record({
    columns: fc.array(text, { maxLength: 4 }),
    types: fc.array(fc.integer({ min: 0, max: 15 }), { maxLength: 4 }),
    rows: fc.array(fc.array(scalar, { maxLength: 4 }), { maxLength: 4 }),
  })
  .map(({ columns, types, rows }) => ({
    wire: {
      datasetValue: {
        numOfColumns: columns.length,
        columns,
        types,
        rows: rows.map((cells) => ({ elements: cells.map(({ wire }) => wire) })),
      },
    },
    read: { columns, types, rows: rows.map((cells) => ({ cells: cells.map(({ read }) => read) })) },
  }));

const properties = fc
  .array(fc.tuple(text, scalar, fc.option(uint32, { nil: undefined })), { maxLength: 3 })
  .map((entries) => ({
    wire: {
      keys: entries.map(([key]) => key),
      values: entries.map(([, { wire }, type]) => ({
        ...wire,
        ...(type !== undefined && { type }),
      })),
    },
    read: {
      keys: entries.map(([key]) => key),
      values: entries.map(([, { read }, type]) => ({
        value: read,
        ...(type !== undefined && { type }),
      })),
    },
  }));

const { metric } = fc.letrec<{ metric: Written; template: Written }>((tie) => ({
  template: fc
    .record({
      ref: text,
      isDefinition: fc.boolean(),
      metrics: fc.array(tie('metric'), { maxLength: 3 }),
      parameters: fc.array(fc.tuple(text, scalar), { maxLength: 2 }),
    })
    .map(({ ref, isDefinition, metrics, parameters }) => ({
      wire: {
        templateValue: {
          templateRef: ref,
          isDefinition,
          metrics: metrics.map(({ wire }) => wire),
          parameters: parameters.map(([name, { wire }]) => ({ name, ...wire })),
        },
      },
      read: {
        ref,
        isDefinition,
        metrics: metrics.map(({ read }) => read),
        parameters: parameters.map(([name, { read }]) => ({ name, value: read })),
      },
    })),
  metric: fc
    .record(
      {
        name: text,
        alias: long,
        timestamp: long,
        datatype: uint32,
        isHistorical: fc.boolean(),
        isNull: fc.boolean(),
        properties,
        value: fc.oneof(
          { depthSize: 'small', withCrossShrink: true },
          scalar,
          bytes.map((value) => ({ wire: { bytesValue: value }, read: Buffer.from(value) })),
          dataSet,
          tie('template'),
        ),
      },
      { requiredKeys: [] },
    )
    .map(({ alias, timestamp, properties: set, value, ...plain }) => ({
      wire: {
        ...plain,
        ...(alias && { alias: alias.wire }),
        ...(timestamp && { timestamp: timestamp.wire }),
        ...(set && { properties: set.wire }),
        ...value?.wire,
      },
      read: {
        ...plain,
        ...(alias && { alias: alias.read }),
        ...(timestamp && { timestamp: timestamp.read }),
        ...(set && { properties: set.read }),
        ...(value && { value: value.read }),
      },
    })),
}));

const payload = fc.array(metric, { maxLength: 6 });

function written(metrics: readonly Written[]): Buffer {
  const message = {
    timestamp: 1_767_571_200_000,
    seq: 7,
    metrics: metrics.map(({ wire }) => wire),
  };
  return Buffer.from(Payload.encode(message as unknown as IPayload).finish());
}

test('payloads of the library are read as they were written', () => {
  fc.assert(
    fc.property(payload, (metrics) => {
      expect(readPayload(written(metrics))).toEqual({
        timestamp: 1_767_571_200_000,
        seq: 7,
        metrics: metrics.map(({ read }) => read),
      });
    }),
    { numRuns: 300 },
  );
});

test('changed bytes are read or refused, and nothing else', () => {
  const change = fc.tuple(fc.nat(), fc.integer({ min: 0, max: 255 }));
  fc.assert(
    fc.property(
      payload,
      fc.array(change, { minLength: 1, maxLength: 4 }),
      fc.nat(),
      (metrics, changes, cut) => {
        const broken = written(metrics);
        for (const [at, byte] of changes) broken[at % broken.length] = byte;
        const length = cut % 3 === 0 ? cut % broken.length : broken.length;
        try {
          readPayload(broken.subarray(0, length));
        } catch (error) {
          expect(error).toBeInstanceOf(InvalidPayload);
        }
      },
    ),
    { numRuns: 1_000 },
  );
});

test('random bytes are read or refused, and nothing else', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 200 }), (random) => {
      try {
        readPayload(Buffer.from(random));
      } catch (error) {
        expect(error).toBeInstanceOf(InvalidPayload);
      }
    }),
    { numRuns: 2_000 },
  );
});

/** A metric whose template holds a metric, and so on. */
function nested(levels: number): Buffer {
  let inner: Buffer = Buffer.alloc(0);
  const field = (number: number, body: Buffer): Buffer => {
    const length: number[] = [];
    for (let rest = body.length; ; rest >>>= 7) {
      length.push(rest > 0x7f ? (rest & 0x7f) | 0x80 : rest);
      if (rest <= 0x7f) break;
    }
    const tag = number * 8 + 2;
    return Buffer.concat([
      Buffer.from(tag > 127 ? [(tag & 127) | 128, tag >> 7] : [tag]),
      Buffer.from(length),
      body,
    ]);
  };
  for (let i = 0; i < levels; i++) inner = field(2, field(18, inner));
  return inner;
}

const wide = Buffer.alloc(300_000);
for (let i = 0; i < wide.length; i += 2) wide.set([0x12, 0x00], i);

describe('refused', () => {
  test.each<[string, Buffer, RegExp]>([
    ['a number without end', Buffer.alloc(12, 0xff), /longer than 64 bits at byte 10/],
    ['a length beyond the payload', Buffer.from([0x12, 0x7f, 0]), /beyond its message at byte 2/],
    ['a payload that breaks off', Buffer.from([0x08]), /is truncated at byte 1/],
    ['a group of old protobuf', Buffer.from([0x0b]), /wire type 3/],
    ['field 0', Buffer.from([0x00, 0x00]), /number 0/],
    ['many messages in each other', nested(5_000), /depth of 16/],
    ['many empty metrics', wide, /more than 100000 values/],
  ])('%s', (_, broken, reason) => {
    expect(() => readPayload(broken)).toThrow(reason);
    expect(() => readPayload(broken)).toThrow(InvalidPayload);
  });
});

describe('compressed payloads', () => {
  const inner = written([{ wire: { name: 'a', intValue: 1 }, read: undefined }]);
  const compressed = (body: Uint8Array, algorithm?: string) => {
    const metrics = algorithm === undefined ? [] : [{ name: 'algorithm', stringValue: algorithm }];
    const message = { uuid: 'SPBV1.0_COMPRESSED', body, metrics } as unknown as IPayload;
    return Buffer.from(Payload.encode(message).finish());
  };
  const read: Metric = { name: 'a', value: 1 };

  test('of both algorithms are read', () => {
    expect(readPayload(compressed(deflateSync(inner))).metrics).toEqual([read]);
    expect(readPayload(compressed(gzipSync(inner), 'gzip')).metrics).toEqual([read]);
  });

  test.each([
    ['broken', compressed(inner), /compressed body is not valid/],
    [
      'much larger than they are',
      compressed(deflateSync(Buffer.alloc(5 * 1024 * 1024))),
      /compressed body/,
    ],
    ['of another algorithm', compressed(inner, 'LZ4'), /unsupported compression/],
  ])('that are %s are refused', (_, broken, reason) => {
    expect(() => readPayload(broken)).toThrow(reason);
  });
});
