// Device frame: what all pages of one device share, and the zones that its times can be shown in.
import { createContext, use } from 'react';
import { useWorkspaces } from '../../session/session.ts';
import { knownZone, type ZoneChoice, zoneChoices } from '../../words/zone-times.ts';
import { browserZone } from '../../words/formats.ts';
import type { Device } from './data/device-queries.ts';
import type { SampleFeed } from './data/sample-feed.ts';

/** Of a workspace that has none set (interface 4.7). */
const zoneDefault = 'UTC';

type Zones = Partial<Readonly<Record<ZoneChoice, string>>>;

export function useZones(device: Device | undefined): Zones {
  const workspaces = useWorkspaces();
  const workspace = workspaces.data?.content.find(({ id }) => id === device?.workspaceId);
  const own = deviceZone(device);
  return {
    ...(own === undefined ? {} : { device: own }),
    workspace: workspace?.settings?.timezone ?? zoneDefault,
    utc: 'UTC',
    mine: browserZone,
  };
}

/** The zone in `properties.timeZone`; a name that the browser does not know would break its dates. */
export function deviceZone(device: Device | undefined): string | undefined {
  const properties: Readonly<Record<string, unknown>> = device?.properties ?? {};
  const zone = properties['timeZone'];
  if (typeof zone !== 'string') return undefined;
  return knownZone(zone);
}

/** The zone that is shown: as the address has it, else the device's, else the workspace's. */
export function zoneShown(zones: Zones, wanted: ZoneChoice | undefined): ZoneChoice {
  const known = zoneChoices.filter((one) => one in zones);
  return known.find((one) => one === wanted) ?? known[0] ?? 'mine';
}

// Device frame: what all pages of one device share, found once by the page around them.

interface DeviceFrame {
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
