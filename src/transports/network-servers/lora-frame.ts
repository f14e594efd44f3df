// LoRaWAN frame, as the readers of all servers build it: the decoder's body, the metrics and the key of its repetitions.
import type { EpochMs } from '../../model/instant.ts';
import type { RadioMetrics } from '../../model/uplink-metrics.ts';
import type { ServerEvent, ServerFrame } from './network-server.ts';
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

/**
 * Port 0, and a frame without a port, is MAC traffic (contract 42): noted, and not decoded. A frame
 * with a port and without payload has an empty one.
 */
export function frameEvent(frame: LoraFrame): ServerEvent {
  const { port, payloadHex = '' } = frame;
  const isForDecoder = port !== 0 || (frame.decodesPortZero === true && payloadHex !== '');
  if (port === undefined || !isForDecoder) return frameWithoutData(frame, macNote(frame));
  return {
    kind: 'uplink',
    deviceEui: frame.deviceEui,
    body: { port, payloadHex },
    metrics: radioOf(frame),
    time: frame.time,
    ...duplicateOf(frame),
  };
}

function macNote({ port, payloadHex = '' }: LoraFrame): Pick<ServerFrame, 'level' | 'message'> {
  if (payloadHex === '')
    return { level: 'INFO', message: 'Received a frame without an application payload' };
  const place = port === undefined ? 'without a port' : 'on port 0';
  return { level: 'INFO', message: `A frame ${place} was received: MAC traffic, not decoded` };
}

/** The frame as a sign of life, with a note. */
export function frameWithoutData(
  frame: LoraFrame,
  note: Pick<ServerFrame, 'level' | 'message'>,
): ServerFrame {
  const { deviceEui, port, payloadHex, frameCountUp } = frame;
  const details = {
    ...(frameCountUp !== undefined && { frameCountUp }),
    ...(port !== undefined && { port }),
    ...(payloadHex && { payloadHex }),
  };
  return {
    kind: 'frame',
    deviceEui,
    metrics: radioOf(frame),
    ...duplicateOf(frame),
    ...note,
    details,
  };
}

function radioOf({ metrics, port, payloadHex = '', frameCountUp }: LoraFrame): RadioMetrics {
  return { ...metrics, ...known({ uplinkSize: payloadBytes(payloadHex), port, frameCountUp }) };
}

// Without a session, the payload distinguishes frames of different sessions with the same counter,
// well enough.
function duplicateOf({ session, payloadHex = '', frameCountUp }: LoraFrame) {
  return frameCountUp === undefined
    ? {}
    : { duplicateKey: `${session ?? payloadHex}:${frameCountUp}` };
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
