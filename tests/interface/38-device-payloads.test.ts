// Contract 38, payloads of devices in the field: what their authors send and decode gives the data that they would expect.
import { gzipSync } from 'node:zlib';
import { encode } from 'cborg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { databaseConnectorId } from '../../src/model/ids.ts';
import { askCoap, freeUdpPort } from '../world/coap-device.ts';
import { type MqttWorld, startMqttWorld } from '../world/mqtt-world.ts';

let world: MqttWorld;
let coapPort: number;
beforeAll(async () => {
  coapPort = await freeUdpPort();
  world = await startMqttWorld({ environment: { COAP_PORT: String(coapPort) } });
});
afterAll(() => world.close());

const hex = (digits: string) => Buffer.from(digits.replaceAll(' ', ''), 'hex');
const text = (value: string) => Buffer.from(value);
const json = (value: object) => text(JSON.stringify(value));

interface Sent {
  readonly over: 'HTTP' | 'MQTT' | 'CoAP';
  readonly bytes: Buffer;
  readonly contentType?: string;
  readonly contentFormat?: number;
  readonly port?: number;
  readonly topic?: string;
}

interface Found {
  readonly topic: string;
  readonly timestamp: string;
  readonly data: unknown;
}

interface Row {
  readonly encoding?: 'BYTES' | 'TEXT' | 'HEX' | 'CBOR' | 'JSON';
  /** Without a decoder the payload is the sample. */
  readonly decoder?: string;
  readonly sent: Sent;
  /** Of each sample, oldest first. */
  readonly samples: readonly Partial<Found>[];
}

const of = (data: object, more: Partial<Found> = {}) => ({ data, ...more });

/** Channels of a sensor of rooms, as its maker publishes the codec for ChirpStack 4. */
const roomCodec = `
function decodeUplink(input) {
  return { data: milesight(input.bytes) };
}
function milesight(bytes) {
  var decoded = {};
  for (var i = 0; i < bytes.length; ) {
    var channel_id = bytes[i++];
    var channel_type = bytes[i++];
    if (channel_id === 0x01 && channel_type === 0x75) {
      decoded.battery = bytes[i];
      i += 1;
    } else if (channel_id === 0x03 && channel_type === 0x67) {
      decoded.temperature = readInt16LE(bytes.slice(i, i + 2)) / 10;
      i += 2;
    } else if (channel_id === 0x04 && channel_type === 0x68) {
      decoded.humidity = bytes[i] / 2;
      i += 1;
    } else break;
  }
  return decoded;
}
function readInt16LE(bytes) {
  var value = (bytes[1] << 8) + bytes[0];
  return value > 0x7fff ? value - 0x10000 : value;
}`;

/** The Things Network 2, with globals that nobody declared. */
const draginoCodec = `
function Decoder(bytes, port) {
  value = bytes[0] << 8 | bytes[1];
  var batV = (value & 0x3fff) / 1000;
  value = bytes[2] << 8 | bytes[3];
  if (bytes[2] & 0x80) { value |= 0xffff0000; }
  var temp = (value / 100).toFixed(2);
  value = bytes[4] << 8 | bytes[5];
  var hum = (value / 10).toFixed(1);
  return { BatV: batV, TempC: parseFloat(temp), Hum: parseFloat(hum), Port: port };
}`;

const cayenneCodec = `
var types = {
  103: { size: 2, name: 'temperature', signed: true, divisor: 10 },
  104: { size: 1, name: 'relative_humidity', signed: false, divisor: 2 },
  2: { size: 2, name: 'analog_in', signed: true, divisor: 100 },
  136: { size: 9, name: 'gps' },
};
function decodeUplink(input) {
  var data = {}, i = 0, b = input.bytes;
  while (i < b.length) {
    var channel = b[i++], type = types[b[i++]];
    if (type === undefined) return { errors: ['unknown type at ' + (i - 1)] };
    var raw = Buffer.from(b.slice(i, i + type.size));
    var name = type.name + '_' + channel;
    if (type.name === 'gps') {
      data[name] = {
        latitude: raw.readIntBE(0, 3) / 10000,
        longitude: raw.readIntBE(3, 3) / 10000,
        altitude: raw.readIntBE(6, 3) / 100,
      };
    } else data[name] = (type.signed ? raw.readIntBE(0, type.size) : raw.readUIntBE(0, type.size)) / type.divisor;
    i += type.size;
  }
  return { data: data, warnings: [] };
}`;

/** ChirpStack 3. */
const elsysCodec = `
function bin16dec(bin) { var num = bin & 0xffff; if (0x8000 & num) num = -(0x010000 - num); return num; }
function DecodeElsysPayload(data) {
  var obj = new Object();
  for (i = 0; i < data.length; i++) {
    switch (data[i]) {
      case 0x01: obj.temperature = bin16dec((data[i + 1] << 8) | data[i + 2]) / 10; i += 2; break;
      case 0x02: obj.humidity = data[i + 1]; i += 1; break;
      case 0x04: obj.light = (data[i + 1] << 8) | data[i + 2]; i += 2; break;
      case 0x05: obj.motion = data[i + 1]; i += 1; break;
      case 0x06: obj.co2 = (data[i + 1] << 8) | data[i + 2]; i += 2; break;
      default: i = data.length;
    }
  }
  return obj;
}
function Decode(fPort, bytes, variables) { return DecodeElsysPayload(bytes); }`;

/** A tag of RuuviTag's format 5, little more than the offsets of its description. */
const ruuviDecoder = `
function consume(event) {
  const b = Buffer.from(event.data.payloadHex, 'hex');
  if (b[0] !== 5) throw new Error('format ' + b[0]);
  const power = b.readUInt16BE(13);
  emit('sample', {
    data: {
      temperature: b.readInt16BE(1) * 0.005,
      humidity: b.readUInt16BE(3) * 0.0025,
      pressure: b.readUInt16BE(5) + 50000,
      accelerationZ: b.readInt16BE(11),
      voltage: (power >> 5) + 1600,
      mac: b.subarray(18).toString('hex').match(/../g).join(':').toUpperCase(),
    },
  });
}`;

const rows: Readonly<Record<string, Row>> = {
  'a room sensor with a codec for ChirpStack 4, bytes over HTTP': {
    encoding: 'BYTES',
    decoder: roomCodec,
    sent: { over: 'HTTP', bytes: hex('01 75 64 03 67 F8 00 04 68 6D'), port: 85 },
    samples: [of({ battery: 100, temperature: 24.8, humidity: 54.5 })],
  },
  'the same below zero, as hexadecimal digits of a modem over MQTT': {
    encoding: 'HEX',
    decoder: roomCodec,
    sent: { over: 'MQTT', bytes: text('0367CEFF\r\n') },
    samples: [of({ temperature: -5 })],
  },
  'a codec of The Things Network 2 with undeclared variables': {
    encoding: 'BYTES',
    decoder: draginoCodec,
    sent: { over: 'MQTT', bytes: hex('CBF6 0B0D 0376 01 0ADD 7FFF') },
    samples: [of({ BatV: 3.062, TempC: 28.29, Hum: 88.6, Port: 1 })],
  },
  'Cayenne LPP over CoAP': {
    encoding: 'BYTES',
    decoder: cayenneCodec,
    sent: { over: 'CoAP', bytes: hex('03 67 01 10 05 67 FF D7 01 88 06 76 5F F2 96 0A 00 03 E8') },
    samples: [
      of({
        ...{ temperature_3: 27.2, temperature_5: -4.1 },
        gps_1: { latitude: 42.3519, longitude: -87.9094, altitude: 10 },
      }),
    ],
  },
  'a codec of ChirpStack 3, whose loop declares nothing': {
    encoding: 'BYTES',
    decoder: elsysCodec,
    sent: { over: 'HTTP', bytes: hex('0100E202290400270506060308'), port: 5 },
    samples: [of({ temperature: 22.6, humidity: 41, light: 39, motion: 6, co2: 776 })],
  },
  'a tag that a gateway of Bluetooth forwards': {
    encoding: 'BYTES',
    decoder: ruuviDecoder,
    sent: { over: 'MQTT', bytes: hex('0512FC5394C37C0004FFFC040CAC364200CDCBB8334C884F') },
    samples: [
      of({
        ...{ temperature: expect.closeTo(24.3, 9), humidity: expect.closeTo(53.49, 9) },
        ...{ pressure: 100_044, accelerationZ: 1_036, voltage: 2_977, mac: 'CB:B8:33:4C:88:4F' },
      }),
    ],
  },
  'a relay of Shelly, whose state is a word': {
    sent: { over: 'MQTT', bytes: text('on'), topic: 'relay-0' },
    samples: [of({ text: 'on', payloadHex: '6f6e' }, { topic: 'relay-0' })],
  },
  'its power, which is a number': {
    sent: { over: 'MQTT', bytes: text('23.15'), topic: 'power' },
    samples: [of({ value: 23.15 }, { topic: 'power' })],
  },
  'a Shelly of the second generation': {
    decoder: `function consume({ data }) {
      const { params } = data;
      emit('sample', {
        timestamp: new Date(params.ts * 1000),
        data: {
          temperature: params['temperature:0'].tC,
          humidity: params['humidity:0'].rh,
          battery: params['devicepower:0'].battery.percent,
        },
      });
    }`,
    sent: {
      over: 'MQTT',
      bytes: json({
        src: 'shellyplusht-c049ef8b3a44',
        dst: 'shellyplusht-c049ef8b3a44/events',
        method: 'NotifyFullStatus',
        params: {
          ts: 1_767_614_400.25,
          'temperature:0': { id: 0, tC: 22.4, tF: 72.3 },
          'humidity:0': { id: 0, rh: 48.9 },
          'devicepower:0': {
            id: 0,
            battery: { V: 5.62, percent: 84 },
            external: { present: false },
          },
        },
      }),
    },
    samples: [
      of(
        { temperature: 22.4, humidity: 48.9, battery: 84 },
        { timestamp: '2026-01-05T12:00:00.250Z' },
      ),
    ],
  },
  'telemetry of Tasmota without a decoder': {
    sent: {
      over: 'MQTT',
      topic: 'SENSOR',
      bytes: text(
        '{"Time":"2026-01-05T12:00:00","AM2301":{"Temperature":21.5,"Humidity":48.2,"DewPoint":10.1},"TempUnit":"C"}',
      ),
    },
    samples: [
      of(
        {
          Time: '2026-01-05T12:00:00',
          AM2301: { Temperature: 21.5, Humidity: 48.2, DewPoint: 10.1 },
          TempUnit: 'C',
        },
        { topic: 'SENSOR' },
      ),
    ],
  },
  'a contact of Zigbee2MQTT without a decoder': {
    sent: {
      over: 'MQTT',
      bytes: json({
        battery: 97,
        contact: false,
        linkquality: 120,
        voltage: 3_005,
        last_seen: null,
      }),
    },
    samples: [
      of({ battery: 97, contact: false, linkquality: 120, voltage: 3_005, last_seen: null }),
    ],
  },
  'a gateway of Modbus that forwards the response of a register as it is': {
    encoding: 'BYTES',
    decoder: `function consume(event) {
      const frame = Buffer.from(event.data.payloadHex, 'hex');
      let crc = 0xffff;
      for (const byte of frame.subarray(0, -2)) {
        crc ^= byte;
        for (let bit = 0; bit < 8; bit++) crc = crc & 1 ? (crc >> 1) ^ 0xa001 : crc >> 1;
      }
      if (crc !== frame.readUInt16LE(frame.length - 2)) throw new Error('wrong checksum');
      const words = Buffer.from(frame.subarray(3, 7));
      const swapped = Buffer.concat([words.subarray(2), words.subarray(0, 2)]);
      emit('sample', { data: { unit: frame[0], flow: words.readFloatBE(0), swapped: swapped.readFloatBE() } });
    }`,
    sent: { over: 'HTTP', bytes: hex('01 03 04 41 AC 00 00 2E 2E') },
    samples: [of({ unit: 1, flow: 21.5, swapped: expect.any(Number) })],
  },
  'a phone with OwnTracks': {
    decoder: `function consume({ data }) {
      if (data._type !== 'location') return;
      const { lat, lon, acc, alt, vel, batt, tst } = data;
      emit('sample', {
        topic: 'location',
        timestamp: new Date(tst * 1000),
        data: { latitude: lat, longitude: lon, accuracy: acc, altitude: alt, speed: vel, battery: batt },
      });
    }`,
    sent: {
      over: 'HTTP',
      contentType: 'application/json; charset=utf-8',
      bytes: json({
        ...{ _type: 'location', tid: 'jp', lat: 47.376_9, lon: 8.541_7, acc: 12, alt: 408 },
        ...{ vel: 3, batt: 85, tst: 1_767_614_400, conn: 'm' },
      }),
    },
    samples: [
      of(
        {
          ...{ latitude: 47.376_9, longitude: 8.541_7, accuracy: 12, altitude: 408 },
          ...{ speed: 3, battery: 85 },
        },
        { topic: 'location', timestamp: '2026-01-05T12:00:00.000Z' },
      ),
    ],
  },
  'a weather station that posts a form to its own server': {
    decoder: `function consume({ data }) {
      const at = new Date(data.dateutc.replace(' ', 'T') + 'Z');
      const celsius = (f) => Math.round((Number(f) - 32) / 0.18) / 10;
      emit('sample', {
        timestamp: at,
        data: { temperature: celsius(data.tempf), humidity: Number(data.humidity), rain: Number(data.dailyrainin) * 25.4 },
      });
    }`,
    sent: {
      over: 'HTTP',
      contentType: 'application/x-www-form-urlencoded',
      bytes: text(
        'PASSKEY=ABC&stationtype=GW1100A_V2.1.4&dateutc=2026-01-05+12:00:00&tempf=71.2&humidity=48&dailyrainin=0.10',
      ),
    },
    samples: [
      of(
        { temperature: 21.8, humidity: 48, rain: expect.closeTo(2.54, 9) },
        { timestamp: '2026-01-05T12:00:00.000Z' },
      ),
    ],
  },
  'a telegram of a smart meter, text of several lines': {
    encoding: 'TEXT',
    decoder: `function consume({ data }) {
      const value = (code) => Number(data.text.match(new RegExp(code.replaceAll('.', '\\\\.') + '\\\\(([\\\\d.]+)'))[1]);
      emit('sample', { data: { imported: value('1-0:1.8.1') + value('1-0:1.8.2'), power: value('1-0:1.7.0') } });
    }`,
    sent: {
      over: 'HTTP',
      contentType: 'text/plain',
      bytes: text(
        '/ISk5\\2MT382-1000\r\n\r\n1-0:1.8.1(001234.500*kWh)\r\n1-0:1.8.2(000100.250*kWh)\r\n1-0:1.7.0(01.193*kW)\r\n!522B\r\n',
      ),
    },
    samples: [of({ imported: 1_334.75, power: 1.193 })],
  },
  'a logger that sends values between semicolons over CoAP': {
    decoder: `function consume({ data }) {
      const [temperature, humidity, pressure] = data.text.split(';').map(Number);
      emit('sample', { data: { temperature, humidity, pressure } });
    }`,
    sent: { over: 'CoAP', bytes: text('23.5;48;1013.2'), contentFormat: 0 },
    samples: [of({ temperature: 23.5, humidity: 48, pressure: 1_013.2 })],
  },
  'CBOR of a small device, with numbers for names': {
    decoder: `function consume({ data }) {
      emit('sample', { data: { temperature: data[1] / 100, serial: data[7], name: data.n } });
    }`,
    sent: {
      over: 'CoAP',
      contentFormat: 60,
      bytes: Buffer.from(
        encode(
          new Map<unknown, unknown>([
            [1, 2_150],
            [7, hex('00ff10')],
            ['n', 'roof'],
          ]),
        ),
      ),
    },
    samples: [of({ temperature: 21.5, serial: '00ff10', name: 'roof' })],
  },
  'a sensor of ESPHome, whose state is a number': {
    sent: { over: 'MQTT', bytes: text('21.53'), topic: 'living_room_temperature' },
    samples: [of({ value: 21.53 }, { topic: 'living_room_temperature' })],
  },
  'a logger that packs its buffer with gzip': {
    decoder: `function consume({ data }) {
      for (const [seconds, level] of data.values) emit('sample', { timestamp: new Date(seconds * 1000), data: { level } });
    }`,
    sent: {
      over: 'MQTT',
      bytes: gzipSync(
        JSON.stringify([
          [1_767_614_400, 4.25],
          [1_767_614_460, 4.5],
          [1_767_614_520, null],
        ]),
      ),
    },
    samples: [
      of({ level: 4.25 }, { timestamp: '2026-01-05T12:00:00.000Z' }),
      of({ level: 4.5 }, { timestamp: '2026-01-05T12:01:00.000Z' }),
      of({ level: null }, { timestamp: '2026-01-05T12:02:00.000Z' }),
    ],
  },
  'a cloud that wraps the bytes of a device in base64': {
    decoder: `function consume({ data }) {
      const bytes = Buffer.from(data.body.payload, 'base64');
      emit('sample', { data: { count: bytes.readUInt32LE(0), level: bytes.readDoubleLE(4), best: data.best_id } });
    }`,
    sent: {
      over: 'HTTP',
      contentType: 'application/json',
      bytes: json({
        best_id: 'tank 4',
        body: {
          payload: Buffer.concat([hex('2a000000'), hex('0000000000803540')]).toString('base64'),
        },
      }),
    },
    samples: [of({ count: 42, level: 21.5, best: 'tank 4' })],
  },
  'a codec that declares a Buffer of its own and exports itself': {
    encoding: 'BYTES',
    decoder: `
      function Buffer(bytes) { this.bytes = bytes; }
      Buffer.prototype.u16 = function (at) { return this.bytes[at] * 256 + this.bytes[at + 1]; };
      function decodeUplink(input) { return { data: { level: new Buffer(input.bytes).u16(1) } }; }
      if (typeof module !== 'undefined') module.exports = { decodeUplink: decodeUplink };`,
    sent: { over: 'HTTP', bytes: hex('01 01 f4') },
    samples: [of({ level: 500 })],
  },
};

async function deviceOf({ encoding, decoder, sent }: Row, name: string) {
  const { workspaceId, organizationId, must } = world;
  const connectivity = sent.over === 'MQTT' ? 'MQTT' : 'HTTP';
  const connector = await must('POST', '/v3/device-connectors', {
    ...{ name, workspaceId, connectivity, encoding: encoding ?? null },
  });
  const type =
    decoder === undefined
      ? null
      : await must('POST', '/v3/device-types', {
          ...{ name, organizationId, type: 'manual', meta: {}, uplinkScript: { code: decoder } },
        });
  const flow = await must('POST', '/v3/data-flows', {
    ...{ name, workspaceId, passThrough: type === null },
    deviceConnector: { id: connector.id },
    deviceType: type === null ? null : { id: type.id },
    outputConnectors: [{ id: databaseConnectorId, topic: '*' }],
  });
  const deviceId = name.replaceAll(' ', '-');
  const draft = { name, deviceId, workspaceId, dataFlowId: flow.id, connectivity };
  const { id } = await must('POST', '/v3/devices', draft);
  return { id, deviceId, secret: connector.uplinkSecret, connectorId: connector.id };
}

async function send(
  device: Awaited<ReturnType<typeof deviceOf>>,
  { over, bytes, contentType, contentFormat, port, topic }: Sent,
): Promise<void> {
  const { secret, deviceId, connectorId } = device;
  const named = { ...(topic && { topic }), ...(port !== undefined && { port: String(port) }) };
  const query = { secret, deviceId, ...named };
  if (over === 'HTTP') {
    const answer = await fetch(`${world.base}/v3/capture?${new URLSearchParams(query)}`, {
      method: 'POST',
      headers: contentType === undefined ? {} : { 'content-type': contentType },
      body: new Uint8Array(bytes),
    });
    expect([answer.status, await answer.text()]).toMatchObject([201, expect.any(String)]);
  } else if (over === 'CoAP') {
    const options =
      contentFormat === undefined
        ? {}
        : { 'Content-Format': Buffer.from([contentFormat >> 8, contentFormat & 255]) };
    expect((await askCoap(coapPort, { query, body: bytes, options })).code).toBe('2.01');
  } else {
    const client = await world.clientWith({ username: connectorId, password: secret });
    const rest = topic === undefined ? '' : `/${topic}`;
    await client.publishAsync(`/up/${secret}/id/${deviceId}${rest}`, bytes, { qos: 1 });
    await client.endAsync();
  }
}

test.each(Object.entries(rows))('%s', async (_, row) => {
  const name = `device ${Object.values(rows).indexOf(row)}`;
  const device = await deviceOf(row, name);
  await send(device, row.sent);
  const stored = async () =>
    (await world.must('POST', `/v3/devices/${device.id}/query`, { topic: '*' })).toReversed();
  await expect.poll(async () => (await stored()).length).toBe(row.samples.length);
  expect(await stored()).toMatchObject(row.samples);
  // Nothing else is in the data, and nothing was noted.
  const found: readonly Found[] = await stored();
  expect(found.map(({ data }) => data)).toEqual(row.samples.map(({ data }) => data));
  const { content } = await world.must('GET', `/v3/devices/${device.id}/processing-logs`);
  expect(content.filter(({ level }: { level: string }) => level !== 'INFO')).toEqual([]);
});
