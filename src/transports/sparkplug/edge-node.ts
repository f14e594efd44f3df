// Edge node: the births, numbers and deaths of one connection of Sparkplug B, message by message.
import type { EpochMs } from '../../model/instant.ts';
import { type Birth, birthOf } from './birth.ts';
import { type Reading, readingsOf } from './metric-readings.ts';
import { InvalidPayload, type Payload, readPayload } from './sparkplug-payload.ts';
import { sparkplugLimits } from './sparkplug-limits.ts';
import type { SparkplugTopic } from './sparkplug-topic.ts';

/** What a message means. */
export interface TakenMessage {
  readonly payload: Payload | undefined;
  readonly readings: readonly Reading[];
  /** Devices that are gone; undefined is the edge node itself. */
  readonly gone: readonly (string | undefined)[];
  /** Why the edge node must send its births again; undefined when it need not. */
  readonly missing: string | undefined;
  /** What was not understood, the first ones. */
  readonly faults: readonly string[];
  readonly faultCount: number;
}

interface Numbers {
  bdSeq: number | bigint | undefined;
  /** The sequence number of the last message. */
  seq: number | undefined;
}

type Births = Map<string | undefined, Birth>;

export class EdgeNode {
  readonly #births: Births = new Map();
  readonly #numbers: Numbers = { bdSeq: undefined, seq: undefined };

  /** Never throws: what is wrong is among the faults. */
  take(topic: SparkplugTopic, bytes: Buffer, receivedAt: EpochMs): TakenMessage {
    const faults = createFaultList();
    try {
      const payload = readPayload(bytes);
      const message = { topic, payload, receivedAt, fault: faults.add };
      const taken = handlers[topic.type](message, this.#births, this.#numbers);
      return { ...nothing, payload, ...taken, ...faults.listed() };
    } catch (error) {
      if (!(error instanceof InvalidPayload)) throw error;
      faults.add(error.message);
      return { ...nothing, payload: undefined, ...faults.listed() };
    }
  }

  /** Of the edge node for undefined; undefined before it. */
  birthOf(device: string | undefined): Birth | undefined {
    return this.#births.get(device);
  }

  /** Those that were born and are not gone; undefined is the edge node itself. */
  born(): readonly (string | undefined)[] {
    return [...this.#births.keys()];
  }

  /** Memory of its births, roughly. */
  bytes(): number {
    return bytesOf(this.#births);
  }
}

const nothing = { readings: [], gone: [], missing: undefined } as const;

interface Message {
  readonly topic: SparkplugTopic;
  readonly payload: Payload;
  readonly receivedAt: EpochMs;
  readonly fault: (fault: string) => void;
}

type Taken = Partial<TakenMessage>;
type Handler = (message: Message, births: Births, numbers: Numbers) => Taken;

const handlers: Readonly<Record<SparkplugTopic['type'], Handler>> = {
  NBIRTH(message, births, numbers) {
    const { payload, fault } = message;
    const birth = birthOf(payload.metrics, fault);
    // The devices are born again after their edge node.
    births.clear();
    births.set(undefined, birth);
    numbers.bdSeq = bdSeqOf(payload);
    numbers.seq = undefined;
    countMessage(payload, numbers);
    return { readings: readingsOf({ ...message, birth }).readings };
  },
  DBIRTH(message, births, numbers) {
    const { topic, payload, fault } = message;
    if (!births.has(undefined))
      return { missing: 'device birth received before the edge node birth' };
    const missing = countMessage(payload, numbers);
    const birth = birthOf(payload.metrics, fault);
    const { devicesPerNodeMax, metricsPerNodeMax } = sparkplugLimits;
    if (!births.has(topic.device) && births.size > devicesPerNodeMax)
      throw new InvalidPayload(`the edge node has more than ${devicesPerNodeMax} devices`);
    const metrics = [...births.values()].reduce((sum, { byName }) => sum + byName.size, 0);
    if (
      metrics + birth.byName.size >
      metricsPerNodeMax + (births.get(topic.device)?.byName.size ?? 0)
    )
      throw new InvalidPayload(`the edge node has more than ${metricsPerNodeMax} metrics`);
    births.set(topic.device, birth);
    return { readings: readingsOf({ ...message, birth }).readings, missing };
  },
  NDATA: takeData,
  DDATA: takeData,
  NDEATH({ payload, fault }, births, numbers) {
    const bdSeq = bdSeqOf(payload);
    if (bdSeq !== undefined && numbers.bdSeq !== undefined && bdSeq !== numbers.bdSeq) {
      fault(`stale death: bdSeq ${bdSeq}, but the birth has ${numbers.bdSeq}`);
      return {};
    }
    const gone = [...births.keys()];
    births.clear();
    return { gone };
  },
  DDEATH({ topic, payload }, births, numbers) {
    const missing = countMessage(payload, numbers);
    return births.delete(topic.device) ? { gone: [topic.device], missing } : { missing };
  },
};

function takeData(message: Message, births: Births, numbers: Numbers): Taken {
  const { topic, payload } = message;
  const birth = births.get(topic.device);
  const lost = countMessage(payload, numbers);
  if (birth === undefined) return { missing: 'data received before the birth' };
  const { readings, unknown } = readingsOf({ ...message, birth });
  return { readings, missing: unknown ?? lost };
}

/** Sequence numbers are those of one byte. Returns why messages were lost, if they were. */
function countMessage({ seq }: Payload, numbers: Numbers): string | undefined {
  if (seq === undefined) return undefined;
  const next = numbers.seq === undefined ? undefined : (numbers.seq + 1) % 256;
  numbers.seq = Number(seq) % 256;
  if (next === undefined || next === numbers.seq) return undefined;
  return `sequence number ${numbers.seq}, expected ${next}`;
}

function bdSeqOf({ metrics }: Payload): number | bigint | undefined {
  const value = metrics.find(({ name }) => name === 'bdSeq')?.value;
  return typeof value === 'number' || typeof value === 'bigint' ? value : undefined;
}

function bytesOf(births: Births): number {
  let bytes = 0;
  for (const birth of births.values()) bytes += birth.bytes;
  return bytes;
}

function createFaultList() {
  const { faultsNotedMax } = sparkplugLimits;
  const faults: string[] = [];
  let faultCount = 0;
  return {
    add(fault: string): void {
      faultCount++;
      if (faults.length < faultsNotedMax) faults.push(fault);
    },
    listed: () => ({ faults, faultCount }),
  };
}
