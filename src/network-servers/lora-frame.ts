// LoRaWAN frame, as the readers of all servers build it: the decoder's body, the metrics and the key of its repetitions.
import type { EpochMs } from '../model/instant.ts';
import type { RadioMetrics } from '../model/uplink-metrics.ts';
import type { ServerEvent } from './network-server.ts';
import { known, payloadBytes } from './radio.ts';

export interface LoraFrame {
  readonly deviceEui: string;
  readonly port: number | undefined;
  /** Undefined for a frame without application payload. */
  readonly payloadHex: string | undefined;
  readonly frameCountUp: number | undefined;
  /** Device address or session key. Frame counters restart with each. */
  readonly session: string | undefined;
  readonly metrics: RadioMetrics;
  readonly time: EpochMs | null;
  /** Port 0 can have an application payload. On the air it has MAC commands. */
  readonly decodesPortZero?: true;
}

/** A frame without payload, such as one with only MAC commands, is noted and not decoded. */
export function frameEvent(frame: LoraFrame): ServerEvent {
  const { deviceEui, port, payloadHex, frameCountUp, session } = frame;
  const isForDecoder = port !== 0 || (frame.decodesPortZero === true && payloadHex !== '');
  if (payloadHex === undefined || port === undefined || !isForDecoder) {
    const details = { ...(frameCountUp !== undefined && { frameCountUp }) };
    return {
      kind: 'note',
      deviceEui,
      level: 'INFO',
      message: 'A frame without application payload was received',
      details,
    };
  }
  return {
    kind: 'uplink',
    deviceEui,
    body: { port, payloadHex },
    metrics: {
      ...frame.metrics,
      ...known({ uplinkSize: payloadBytes(payloadHex), port, frameCountUp }),
    },
    time: frame.time,
    // Without a session, the payload distinguishes frames of different sessions with the same
    // counter, well enough.
    ...(frameCountUp !== undefined && {
      duplicateKey: `${session ?? payloadHex}:${frameCountUp}`,
    }),
  };
}

/** The note of a join. */
export function joinEvent(deviceEui: string, deviceAddress: string | undefined): ServerEvent {
  const details = { ...(deviceAddress !== undefined && { deviceAddress }) };
  return {
    kind: 'note',
    deviceEui,
    level: 'INFO',
    message: 'The device joined the network',
    details,
  };
}

/** The frame, and the acknowledgement of a downlink if the frame carries one. */
export function withAcknowledgement(
  frame: ServerEvent,
  isAcknowledging: boolean,
): readonly ServerEvent[] {
  if (!isAcknowledging) return [frame];
  return [frame, { kind: 'downlink', deviceEui: frame.deviceEui, state: 'ACKNOWLEDGED' }];
}
