// Connector test: sends one message through an output connector and returns the answer of the target (contract 35).
import { delivererLimits } from './attempts/delivery-worker.ts';
import type { OpenTargets } from './attempts/open-targets.ts';
import type { Principal } from '../model/principal.ts';
import { type ContextSources, previewContext } from './template-context.ts';

interface ConnectorTestParts extends ContextSources {
  readonly targets: Pick<OpenTargets, 'test'>;
  readonly newId: () => string;
}

interface ConnectorTestResult {
  readonly ok: boolean;
  readonly answer: string | null;
  readonly reason: string | null;
  readonly payload: string | null;
  readonly durationMs: number;
}

/**
 * Resolves with the outcome of one attempt, or with its time limit. Throws the errors of
 * `previewContext`.
 */
export async function testConnector(
  {
    connectorId,
    deviceId,
    signal,
  }: {
    readonly connectorId: string;
    /** The device whose last sample is sent. Without one an example is sent. */
    readonly deviceId: string | undefined;
    /** Aborted when the caller disconnects. */
    readonly signal: AbortSignal;
  },
  principal: Principal,
  parts: ConnectorTestParts,
): Promise<ConnectorTestResult> {
  const context = await previewContext({ deviceId, topic: undefined }, principal, parts);
  const startedAt = performance.now();
  const ends = AbortSignal.any([signal, AbortSignal.timeout(delivererLimits.tryMsMax)]);
  const message = {
    deliveryId: parts.newId(),
    deviceId: deviceId ?? '',
    context,
    createdAt: parts.now(),
  };
  const outcome = await Promise.race([
    parts.targets.test(connectorId, message, ends),
    timedOut(ends),
  ]);
  const { answerCharactersMax, payloadCharactersMax } = delivererLimits;
  return {
    ok: outcome.ok,
    answer: outcome.answer?.slice(0, answerCharactersMax) ?? null,
    reason: outcome.ok ? null : outcome.reason,
    payload: outcome.sent?.slice(0, payloadCharactersMax) ?? null,
    durationMs: Math.round(performance.now() - startedAt),
  };
}

async function timedOut(signal: AbortSignal) {
  const aborted = Promise.withResolvers<void>();
  if (signal.aborted) aborted.resolve();
  signal.addEventListener('abort', () => aborted.resolve(), { once: true });
  await aborted.promise;
  const reason = `timed out after ${delivererLimits.tryMsMax / 1_000} s`;
  return { ok: false, retry: true, reason, answer: undefined, sent: undefined } as const;
}
