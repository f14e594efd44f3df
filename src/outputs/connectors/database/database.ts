// Database: stores the sample of the trigger in the platform itself; one global connector exists from the start (contract 9).
import type { ConnectorType } from '../connector-type.ts';
import { createSampleTarget } from './sample-target.ts';

export const database: ConnectorType<never> = {
  vendorName: 'AKENZA_DATABASE',
  properties: null,
  defaultScope: 'DATA_FLOW',
  defaultSendConsecutiveAlerts: false,
  needsJsonPayload: false,
  missingSetting: () => undefined,
  check: () => {},
  checkRecord: () => {},
  open: (_properties, { writeSample }) => createSampleTarget(undefined, writeSample),
};
