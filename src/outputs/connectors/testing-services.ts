// Connector services of tests: nothing is configured, and nothing is written or ordered.
import type { EgressGuard } from '../egress/guard.ts';
import type { ConnectorServices } from './connector-services.ts';

/** `configured` is what a test needs beyond the guard and the clock. */
export function testServices(
  egress: EgressGuard,
  configured: Partial<ConnectorServices> = {},
): ConnectorServices {
  return {
    egress,
    now: Date.now,
    mails: { missingSetting: 'SMTP_URL' },
    mailContent: async () => [],
    smsGatewayUrl: undefined,
    gcpServiceAccountKey: undefined,
    writeSample: () => Promise.reject(new Error('This test writes no sample')),
    orderDownlink: () => Promise.reject(new Error('This test orders no downlink')),
    ...configured,
  };
}

/** The options of a connector without a custom payload. */
export const plainOptions = { invokeRuleEngine: false, hasCustomPayload: false };
