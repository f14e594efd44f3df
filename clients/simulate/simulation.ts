// Simulation: devices send payloads at a rate over one protocol; outcomes are counted until it ends.
import { setTimeout as wait } from 'node:timers/promises';
import { createStatistics, type Statistics } from './statistics.ts';
import { createPacer } from './pacer.ts';
import { payloadOf } from './payload.ts';

/** A device as senders address it. */
export interface SimulatedDevice {
  /** Physical device id. */
  readonly deviceId: string;
}

/** One protocol, connected. */
export interface Sender {
  /**
   * Resolves when the platform has acknowledged the payload, which is a promise that it is durable;
   * rejects with what was answered instead.
   */
  send(device: SimulatedDevice, payload: Buffer): Promise<void>;
  close(): Promise<void>;
}

export interface Simulation {
  readonly sender: Sender;
  readonly devices: readonly SimulatedDevice[];
  /** Payloads a second, by all devices together; 0 sends as fast as payloads are acknowledged. */
  readonly ratePerSecond: number;
  /** Payloads that are not acknowledged yet, at most; beyond it sending waits. */
  readonly inFlightMax: number;
  /** Ends the sending; requests in flight are completed. */
  readonly signal: AbortSignal;
  /** Called about once a second. */
  readonly report?: (figures: Statistics, seconds: number) => void;
}

export interface SimulationResult {
  readonly figures: Statistics;
  /** From the first payload to the last acknowledgement. */
  readonly seconds: number;
}

const stepMs = 10;
const reportEveryMs = 1_000;
/** Who does not answer within this time will not. */
const drainMsMax = 15_000;

/**
 * Sends until the signal says so; resolves when the last payload was acknowledged or refused. The
 * sender stays open.
 */
export async function simulate(simulation: Simulation): Promise<SimulationResult> {
  const { sender, devices, ratePerSecond, inFlightMax, signal } = simulation;
  const figures = createStatistics();
  const pacer = createPacer(ratePerSecond, performance.now());
  const underWay = new Set<Promise<void>>();
  const startedAt = performance.now();
  let reportedAt = startedAt;
  let turn = 0;
  let wake: (() => void) | undefined;

  const sendOne = (): void => {
    const device = devices[turn % devices.length]!;
    const payload = payloadOf(turn % devices.length, Math.floor(turn / devices.length), Date.now());
    turn += 1;
    const sentAt = performance.now();
    figures.sent();
    const done = sender.send(device, payload).then(
      () => figures.acknowledged(performance.now() - sentAt),
      (error: unknown) => figures.failed(error instanceof Error ? error.message : String(error)),
    );
    underWay.add(done);
    void done.finally(() => {
      underWay.delete(done);
      // An unlimited rate does not wait for the next step.
      if (ratePerSecond === 0) wake?.();
    });
  };

  const pause = (ms: number): Promise<void> =>
    new Promise((resolve) => {
      const timer = setTimeout(resolve, ms);
      wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });

  while (!signal.aborted) {
    const now = performance.now();
    for (let due = pacer.due(now, inFlightMax - underWay.size); due > 0; due--) sendOne();
    if (now - reportedAt >= reportEveryMs) {
      simulation.report?.(figures, (now - startedAt) / 1_000);
      reportedAt = now;
    }
    await pause(stepMs);
  }
  const last = new AbortController();
  await Promise.race([
    Promise.all(underWay),
    wait(drainMsMax, undefined, last).catch(() => undefined),
  ]);
  last.abort();
  figures.unanswered(underWay.size);
  return { figures, seconds: (performance.now() - startedAt) / 1_000 };
}
