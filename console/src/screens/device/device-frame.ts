// Device frame: what all pages of one device share, found once by the page around them.
import { createContext, use } from 'react';
import type { Device } from './data/device-queries.ts';
import type { SampleFeed } from './data/use-sample-feed.ts';
import type { ZoneChoice } from '../../ui/zone-choices.ts';

export interface DeviceFrame {
  readonly device: Device;
  readonly feed: SampleFeed;
  /** Zones that times can be shown in, by what they belong to; IANA names. */
  readonly zones: Partial<Readonly<Record<ZoneChoice, string>>>;
  readonly zoneName: ZoneChoice;
  readonly zone: string;
}

const FrameContext = createContext<DeviceFrame | undefined>(undefined);
export const DeviceFrameProvider = FrameContext;

export function useDeviceFrame(): DeviceFrame {
  const frame = use(FrameContext);
  if (frame === undefined) throw new Error('no device around this page');
  return frame;
}
