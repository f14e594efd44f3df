// Line protocol write: the points of a request become samples, which are stored in bulk; bad lines are reported.
import {
  createLineReader,
  isFault,
  type LineReader,
  lineTexts,
  timeReader,
} from '../../transports/line-protocol/line-reader.ts';
import {
  pointGroups,
  type PointSample,
  PointSamples,
} from '../../transports/line-protocol/point-samples.ts';
import { largeWorkLimits } from '../../transports/large-work.ts';
import type { InTurn } from '../../structures/turns.ts';
import type { WorkTurns } from '../../transports/work-turns.ts';
import type { DeviceConnector } from '../../model/connector.ts';
import type { JsonObject } from '../../model/json.ts';
import { noteOfExact } from '../../model/json-keys.ts';
import { problem } from '../../model/problem.ts';
import { problems } from '../../model/problem-table.ts';
import type { Note } from '../../model/entry-trace.ts';
import { missing } from '../../structures/missing.ts';
import type { SampleStages } from '../sample-stages.ts';
import type { Validate } from './backfill-batches.ts';
import { backfillLimits, type BackfillReceipt, type Backfills } from './backfill.ts';
import { ConnectorDevices, type ConnectorDeviceStages } from './named-devices.ts';

/** Time for which lines are read in one turn of the event loop, asked after so many lines. */
const turnMsMax = 0.4;
const linesPerLook = 16;
/** Bad lines that an answer names; the others are counted. */
const faultsNamedMax = 10;
/** Devices whose refusal the owner of the connector finds. */
const refusedNamedMax = 200;
const shownLengthMax = 200;

/** A body that is read once. */
export interface PointBody {
  readonly chunks: readonly Uint8Array[];
  readonly bytes: number;
}

export interface PointWrite {
  /** It has a mapping. */
  readonly connector: DeviceConnector;
  readonly body: PointBody;
  readonly precision: string;
}

interface NamedFault {
  /** From 1. */
  readonly line: number;
  readonly message: string;
}

export interface WriteOutcome {
  readonly receipt: BackfillReceipt;
  /** Lines that were not stored, in their order; the first ones. */
  readonly faults: readonly NamedFault[];
  readonly faultCount: number;
  /** Once for each device, and once for lines that cannot be read. */
  readonly refused: readonly RefusedPoints[];
}

interface RefusedPoints {
  /** Physical id; null where the line names none. */
  readonly deviceId: string | null;
  readonly status: number;
  readonly message: string;
}

/** Stores points in line protocol. */
export class PointWriter {
  readonly #backfills: Backfills;
  readonly #stages: SampleStages;
  readonly #devices: ConnectorDeviceStages;
  readonly #turns: WorkTurns;

  constructor(
    backfills: Backfills,
    stages: SampleStages,
    devices: ConnectorDeviceStages,
    turns: WorkTurns,
  ) {
    this.#backfills = backfills;
    this.#stages = stages;
    this.#devices = devices;
    this.#turns = turns;
  }

  /**
   * Resolves when the good points are durable. Throws Problem 400 for an unknown precision, 413 for
   * too many points, and what a bulk request throws when it breaks off.
   */
  async write(write: PointWrite): Promise<WriteOutcome> {
    const { connector, body, precision } = write;
    const readTime = timeReader(precision);
    if (readTime === undefined)
      throw problem('precisionUnknown', { precision: shortText(precision) });
    const mapping = connector.lineProtocol;
    if (mapping === null) throw problem('lineProtocolOff');
    const receivedAt = this.#stages.now();
    const points = new PointSamples({ mapping, readTime, receivedAt });
    const faults = new Faults();
    const reader = createLineReader(lineTexts(body.chunks));
    const inTurn = turnsOf(write, this.#turns);
    const read = () => readLines(reader, points, faults);
    while (await inTurn(read));
    const { samples } = points;
    const validate = notedValidation(samples, this.#stages);
    const groups = pointGroups(samples);
    const devices = new ConnectorDevices(connector, this.#devices);
    const receipt = await this.#backfills.storeGroups({ groups, receivedAt, validate }, devices);
    for (const { index, ...refusal } of receipt.rejected) {
      const { line, deviceId } = samples[index] ?? missing('sample');
      faults.add(line, messageToSender(refusal, deviceId));
    }
    const refused = refusedDevices(receipt, samples);
    const [unread] = faults.told().faults;
    if (unread !== undefined && faults.told().faultCount > receipt.rejected.length)
      refused.push({ deviceId: null, status: 400, message: unread.message });
    return { receipt, ...faults.told(), refused };
  }
}

/**
 * A sender does not learn which devices other connectors have; the owner finds the reason at the
 * connector (contract 39.3).
 */
function messageToSender(
  { errorCode, message }: { readonly errorCode: string; readonly message: string },
  deviceId: string,
): string {
  if (errorCode !== problems.deviceNotOnConnector.code) return message;
  return problem('notFound', { what: 'device', id: deviceId }).message;
}

/** The digits at the start of an error code are its status. */
function refusedDevices(
  { rejected }: BackfillReceipt,
  samples: readonly PointSample[],
): RefusedPoints[] {
  const devices = new Map<string, RefusedPoints>();
  for (const { index, errorCode, message } of rejected) {
    const deviceId = samples[index]?.deviceId;
    if (deviceId === undefined || devices.has(deviceId)) continue;
    if (devices.size >= refusedNamedMax) break;
    devices.set(deviceId, { deviceId, status: Number(errorCode.slice(0, 3)), message });
  }
  return [...devices.values()];
}

/** Returns whether there may be more. */
function readLines(reader: LineReader, points: PointSamples, faults: Faults): boolean {
  const pointsMax = backfillLimits.samplesMax;
  const startedAt = performance.now();
  for (let i = 1; ; i++) {
    if (i % linesPerLook === 0 && performance.now() - startedAt > turnMsMax) return true;
    const point = reader.next();
    if (point === undefined) return false;
    const fault = isFault(point) ? point : points.add(point, reader.line());
    if (fault !== undefined)
      faults.add(reader.line(), `unable to parse '${shortText(reader.text())}': ${fault.reason}`);
    if (points.samples.length > pointsMax) throw problem('pointsTooMany', { pointsMax });
  }
}

/** Few lines are read as any other request is, many in slices. */
function turnsOf({ connector, body }: PointWrite, turns: WorkTurns): InTurn {
  const { organizationId } = connector;
  if (body.bytes <= largeWorkLimits.bytesMin) return (work) => turns.run(organizationId, work);
  return (work) => turns.slice(organizationId, work);
}

/** Validation that notes which integers of a sample are strings; undefined where none is. */
function notedValidation(
  samples: readonly PointSample[],
  stages: SampleStages,
): Validate | undefined {
  const notes = new Map<JsonObject, Note>();
  for (const { data, texts } of samples)
    if (texts !== undefined) notes.set(data, noteOfExact(texts));
  if (notes.size === 0) return undefined;
  return (sample, receivedAt) => {
    const validated = stages.validate(sample, receivedAt);
    const note = notes.get(sample.data);
    return note === undefined ? validated : { ...validated, notes: [...validated.notes, note] };
  };
}

class Faults {
  readonly #named: NamedFault[] = [];
  #count = 0;

  add(line: number, message: string): void {
    this.#count++;
    if (this.#named.length < faultsNamedMax) this.#named.push({ line, message });
  }

  told(): { readonly faults: readonly NamedFault[]; readonly faultCount: number } {
    return { faults: this.#named.sort((a, b) => a.line - b.line), faultCount: this.#count };
  }
}

function shortText(text: string): string {
  return text.length <= shownLengthMax ? text : `${text.slice(0, shownLengthMax)}…`;
}
