// MQTT 3.1.1 packets as bytes, for generators that must cost little or send what a client library would not.

export function mqttText(value: string | Buffer): Buffer {
  const bytes = Buffer.from(value);
  return Buffer.concat([Buffer.from([bytes.length >> 8, bytes.length & 0xff]), bytes]);
}

/** `header` is the first byte: kind and flags. */
export function mqttPacket(header: number, ...body: readonly Buffer[]): Buffer {
  const bytes = Buffer.concat(body);
  const length: number[] = [];
  let rest = bytes.length;
  do {
    length.push((rest & 0x7f) | (rest > 0x7f ? 0x80 : 0));
    rest >>= 7;
  } while (rest > 0);
  return Buffer.concat([Buffer.from([header, ...length]), bytes]);
}

export interface ConnectFields {
  readonly clientId: string;
  readonly userName: string;
  readonly password: string;
  readonly clean: boolean;
  readonly keepaliveSeconds: number;
  readonly will?: { readonly topic: string; readonly payload: string };
}

export function connectPacket(fields: ConnectFields): Buffer {
  const { clientId, userName, password, clean, keepaliveSeconds, will } = fields;
  // User name and password; a will of QoS 1.
  const flags = 0xc0 | (clean ? 0x02 : 0) | (will === undefined ? 0 : 0x0c);
  const head = [
    mqttText('MQTT'),
    Buffer.from([4, flags, keepaliveSeconds >> 8, keepaliveSeconds & 0xff]),
  ];
  const willFields = will === undefined ? [] : [mqttText(will.topic), mqttText(will.payload)];
  return mqttPacket(
    0x10,
    ...head,
    mqttText(clientId),
    ...willFields,
    mqttText(userName),
    mqttText(password),
  );
}

/** `flags`: retain 1, QoS 2 or 4, DUP 8. */
export function publishPacket(
  topic: string,
  payload: string | Buffer,
  flags: number,
  messageId: number,
): Buffer {
  const number = (flags & 6) === 0 ? [] : [numberBytes(messageId)];
  return mqttPacket(0x30 | flags, mqttText(topic), ...number, Buffer.from(payload));
}

export function numberBytes(messageId: number): Buffer {
  return Buffer.from([messageId >> 8, messageId & 0xff]);
}
