// A LoRaWAN frame as every server's reader makes it: decoder's body, metrics and what its repetitions are known by.
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
  /** Device address or session key: frame counters begin anew with each. */
  readonly session: string | undefined;
  readonly metrics: RadioMetrics;
  readonly time: EpochMs | null;
  /** Whether port 0 may carry an application payload; on the air it carries MAC commands. */
  readonly decodesPortZero?: true;
}

/** A frame without payload, such as one of MAC commands alone, has nothing to decode and is noted. */
export function frameEvent(frame: LoraFrame): ServerEvent {
  const { deviceEui, port, payloadHex, frameCountUp, session } = frame;
  const isForDecoder = port !== 0 || (frame.decodesPortZero === true && payloadHex !== '');
  if (payloadHex === undefined || port === undefined || !isForDecoder) {
    const details = frameCountUp === undefined ? {} : { frameCountUp };
    return {
      kind: 'note',
      deviceEui,
      level: 'INFO',
      message: 'A frame without application payload was received',
      details,
    };
  }
  // Without a session the payload tells frames of different sessions with the same counter apart, well enough.
  const duplicateKey =
    frameCountUp === undefined ? {} : { duplicateKey: `${session ?? payloadHex}:${frameCountUp}` };
  return {
    kind: 'uplink',
    deviceEui,
    body: { port, payloadHex },
    metrics: {
      ...frame.metrics,
      ...known({ uplinkSize: payloadBytes(payloadHex), port, frameCountUp }),
    },
    time: frame.time,
    ...duplicateKey,
  };
}

/** The note of a join. */
export function joinEvent(deviceEui: string, deviceAddress: string | undefined): ServerEvent {
  const details = deviceAddress === undefined ? {} : { deviceAddress };
  return {
    kind: 'note',
    deviceEui,
    level: 'INFO',
    message: 'The device joined the network',
    details,
  };
}
