// Targets of tests: opened with the properties of a connector, and sent messages as the delivery worker does.
import type { ConnectorServices } from './connector-services.ts';
import type { ConnectorType } from './connector-type.ts';
import type { OutboundMessage, SendOutcome, Target } from './target.ts';
import { plainOptions, testServices } from './testing-services.ts';
import { EgressGuard } from '../egress/guard.ts';
import type { HttpAnswer, HttpCall } from '../egress/http-exchange.ts';
import type { JsonObject } from '../../model/json.ts';

const sample = {
  data: { temperature: 21.5, humidity: 40, occupied: true, label: 'a "b"' },
  meta: {},
  topic: 'default',
  timestamp: '2026-03-01T12:00:00.250Z',
  deviceId: 'physical-1',
  svcDeviceId: '0200000000000001',
  correlationId: 'c-1',
  device: { id: '0200000000000001', deviceId: 'physical-1', name: 'Kitchen' },
} satisfies JsonObject;

/** A delivery of one sample; `over` replaces members of the sample. */
export function message(deliveryId = 'delivery-1', over: JsonObject = {}): OutboundMessage {
  const context = { ...sample, ...over };
  return {
    deliveryId,
    deviceId: '0200000000000001',
    payload: JSON.stringify(context),
    contentType: 'application/json',
    context,
  };
}

const open: { close(): Promise<void> }[] = [];

/**
 * Targets of tests are on this machine, which no connector may reach unless the operator allows it.
 */
export function localEgress(certificates: { readonly ca?: string } = {}): EgressGuard {
  const guard = new LocalEgress(certificates);
  open.push(guard);
  return guard;
}

class LocalEgress extends EgressGuard {
  readonly #certificates: { readonly ca?: string };

  constructor(certificates: { readonly ca?: string }) {
    super({ allow: ['127.0.0.0/8', '::1/128'] });
    this.#certificates = certificates;
  }

  override request(call: HttpCall, signal: AbortSignal): Promise<HttpAnswer> {
    return super.request({ ...this.#certificates, ...call }, signal);
  }
}

/**
 * A target of a connector with these properties; `closeTargets` closes it. `configured` are
 * services of the operator.
 */
export function targetOf(
  connector: ConnectorType,
  properties: JsonObject,
  egress = localEgress(),
  configured: Partial<ConnectorServices> = {},
): Target {
  const services = testServices(egress, configured);
  connector.check(properties, services);
  const target = connector.open(properties, services, plainOptions);
  open.push(target);
  return target;
}

export async function closeTargets(): Promise<void> {
  await Promise.all(open.splice(0).map((target) => target.close()));
}

/** One try with a time limit. */
export function trySend(
  target: Target,
  of: OutboundMessage = message(),
  timeoutMs = 10_000,
): Promise<SendOutcome> {
  return target.send(of, AbortSignal.timeout(timeoutMs));
}
